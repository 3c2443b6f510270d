#!/bin/sh
# refused.sh COMPILER MODULES: what would be garbage, or means nothing in a file, is an error of compilation.
set -eu
compiler=$1 modules=$2
folder=$(mktemp -d "$PWD/refused-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

compiles() {
  cat > program.f90 <<END
subroutine program(f, a, constant, indices, words, mask)
  use penstock
  type(penstock_file), intent(in) :: f
  real, intent(inout) :: a(:)
  real, intent(in) :: constant(:)
  integer, intent(in) :: indices(:)
  character(len=4), intent(inout) :: words(:)
  logical, intent(in) :: mask(:)
  $1
end subroutine
END
  "$compiler" -fsyntax-only -I"$modules" program.f90 > log 2>&1
}

for good in 'call penstock_lend(f, "a", a)' 'call penstock_lend(f, "a", a(::2))' \
  'call penstock_put(f, "a", 2 * a(indices))' 'call penstock_put(f, "a", constant)' \
  'call penstock_get(f, "a", words)' 'call penstock_put(f, "a", merge(1, 0, mask))'; do
  compiles "$good" || { echo "this should compile: $good"; cat log; exit 1; }
done
for bad in 'call penstock_lend(f, "a", 2 * a)' 'call penstock_lend(f, "a", constant)' \
  'call penstock_lend(f, "a", a(indices))' \
  'call penstock_get(f, "a", 2 * a)' 'call penstock_get(f, "a", constant)' 'call penstock_get(f, "a", a(indices))' \
  'call penstock_lend(f, "a", words)' 'call penstock_put(f, "a", mask)' 'call penstock_put(f, "a", a, [10_8], [1_2])' \
  'call penstock_put(f, a)' 'print *, f%handle'; do
  if compiles "$bad"; then
    echo "this should not compile: $bad"
    exit 1
  fi
  grep -q "^Error" log || { echo "no error, but: $bad"; cat log; exit 1; }
done
