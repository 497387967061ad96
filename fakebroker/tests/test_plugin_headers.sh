#!/bin/sh
# The headers for plugins stand alone, in C11 and in C++, each by itself and both together; what they share is the same;
# and the plugins in the manual compile.
set -u
cd "$(dirname "$0")/../hooks" || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT INT TERM
passed=0
cc=${CC:-cc}   # may be several words

try() {
	what=$1
	shift
	if "$@" >"$dir/log" 2>&1; then
		passed=$((passed + 1))
	else
		echo "FAILED: $what"
		cat "$dir/log"
		exit 1
	fi
}

printf '#include "kassay_observer.h"\n' >"$dir/observer.c"
printf '#include "kassay_validator.h"\n' >"$dir/validator.c"
cat "$dir/observer.c" "$dir/validator.c" >"$dir/both.c"
for name in observer validator both; do
	# shellcheck disable=SC2086
	try "$name in C" $cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I. -c -o "$dir/out.o" "$dir/$name.c"
	if command -v "${CXX:-c++}" >/dev/null; then
		try "$name in C++" "${CXX:-c++}" -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I. -c \
			-o "$dir/out.o" "$dir/$name.c"
	fi
done

for name in observer validator; do
	sed -n '/the same text in/,/end of the same text/p' "kassay_$name.h" >"$dir/$name.common"
	try "common text of kassay_$name.h" test -s "$dir/$name.common"
done
try 'same common text' cmp "$dir/observer.common" "$dir/validator.common"

for name in observer validator; do
	# shellcheck disable=SC2016
	sed -n '/^```c$/,/^```$/{/^```/d;p}' "../../docs/${name}s.md" >"$dir/manual.c"
	try "plugin in ${name}s.md" grep -q "kassay_$name = {" "$dir/manual.c"
	# shellcheck disable=SC2086
	try "plugin in ${name}s.md" $cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror -I. \
		-shared -fPIC -o "$dir/manual.so" "$dir/manual.c"
done
echo "$passed passed"
