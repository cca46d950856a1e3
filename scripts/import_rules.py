"""A rule for import-linter that its own kinds cannot say: no third-party package but the ones named."""

import sys
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class NoThirdParty(Contract):
    """The packages import the standard library, Hermes and what is allowed, nothing else."""

    type_name = "no_third_party"

    packages = fields.ListField(subfield=fields.StringField())
    allowed = fields.SetField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        own = {module.partition(".")[0] for module in cast(list[str], self.packages)}
        known = sys.stdlib_module_names | own | cast(set[str], self.allowed)
        broken = [
            f"{module} imports {imported}"
            for package in cast(list[str], self.packages)
            for module in sorted({package, *graph.find_descendants(package)} & graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(module))
            if imported.partition(".")[0] not in known
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for line in check.metadata["broken"]:
            output.print_error(line)
