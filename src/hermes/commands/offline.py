"""What to tell somebody who has no model but the embedded one."""

from hermes.app import App, Wish, can_run_embedded

OFFLINE = (
    "no model is set and no key is found: using the embedded offline model, a basic mode "
    "(for a better one: hermes setup, or hermes config set OPENROUTER_API_KEY YOUR-KEY)"
)


def offline_notice(app: App, wish: Wish) -> str:
    """One line if nothing was chosen and the embedded model answers, else nothing."""
    chosen = wish.model or app.settings.model.provider
    return OFFLINE if not chosen and app.choice(wish).provider == "local" and can_run_embedded() else ""
