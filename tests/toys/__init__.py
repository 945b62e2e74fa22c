"""One kernel, one loss, one solver and one machine, each added from outside the package.

The pages docs/add-a-kernel.md, add-a-loss.md, add-a-solver.md and add-a-machine.md show
these files as they are.
"""
