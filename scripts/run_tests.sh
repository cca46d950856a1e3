#!/bin/sh
# Run the tests: the same as `make test`.
exec make -C "$(dirname "$0")/.." test
