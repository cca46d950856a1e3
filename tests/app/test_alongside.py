"""Tasks beside the sessions are held until they end, and ended when the process leaves."""

import asyncio

from hermes.app.alongside import Alongside


async def test_a_task_is_held_until_it_has_ended():
    tasks, go = Alongside(), asyncio.Event()

    async def work() -> None:
        await go.wait()

    task = tasks.start(work())
    assert tasks.tasks == {task}
    go.set()
    await tasks.settle(10)
    await asyncio.sleep(0)
    assert (task.done(), tasks.tasks) == (True, set())


async def test_what_does_not_end_by_itself_is_ended():
    tasks = Alongside()
    task = tasks.start(asyncio.sleep(60))
    await tasks.settle(0.01)
    assert not task.done()
    await tasks.close()
    assert task.cancelled()
