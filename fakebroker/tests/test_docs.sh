#!/bin/bash
# The example of --check in docs/configuration.md: the files that it shows, and what the program then says.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh
export PATH=$build:$PATH

# The block with "$ cat 101.properties"; lines with "$ " are commands, the others what they print.
sed -n '/^\$ cat 101\.properties/,/^```$/{/^```$/d;p}' docs/configuration.md >"$dir/block"
awk -v dir="$dir" '/^\$ / { file = /^\$ cat / ? dir "/" $3 : ""; next } file { print >file }' "$dir/block"
cp fixtures/scenarios/segment-bytes.json "$dir/"
cd "$dir" || exit 2
while IFS= read -r row; do
	if [[ $row != '$ '* ]]; then continue; fi
	echo "$row"
	eval "${row#'$ '}"
done <block >said 2>&1
cp said log
equal 'lines of the block' "$(wc -l <block)" 23
check 'what the example says' diff block said

finish
