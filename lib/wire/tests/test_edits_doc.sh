#!/bin/bash
# docs/edits.md has an example of every edit, each with the members that edits.def lists, and of no other.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 2
passed=0 failed=0

members() { sed -n "s/^KW_EDIT([a-z_]*, *\"$1\", *\"\([^\"]*\)\".*/\1/p" lib/wire/edits.def; }
check() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $2"; fi; }

while read -r name; do
	grep -q "^| \`$name\` | \`{\"edit\": \"$name\"" docs/edits.md
	check $? "docs/edits.md has no example of $name"
done < <(sed -n 's/^KW_EDIT([a-z_]*, *"\([a-z-]*\)".*/\1/p' lib/wire/edits.def)
while read -r example; do
	name=$(jq -r .edit <<<"$example")
	known=" edit $(members "$name" | tr -d '[]') "
	for member in $(jq -r 'keys[]' <<<"$example"); do
		[[ $known == *" $member "* ]]
		check $? "docs/edits.md: $name has no member $member"
	done
	for need in $(members "$name" | sed 's/\[[a-z]*\]//g'); do
		jq -e "has(\"$need\")" <<<"$example" >/dev/null
		check $? "docs/edits.md: the example of $name lacks $need"
	done
done < <(grep -o '`{"edit": [^`]*`' docs/edits.md | tr -d '`')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 60 ]
