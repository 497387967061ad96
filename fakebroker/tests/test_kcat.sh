#!/bin/bash
# A client that is not ours, kcat: transactions.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
dir=$(mktemp -d) || exit 2
broker=
trap '[ -z "$broker" ] || { kill "$broker" 2>/dev/null; wait "$broker" 2>/dev/null; }; rm -rf "$dir"' EXIT
trap 'exit 143' TERM INT HUP
passed=0 failed=0

# same WHAT EXPECTED GOT
same() {
	if [ "$2" = "$3" ]; then passed=$((passed + 1)); echo "ok   $1"; return; fi
	failed=$((failed + 1))
	echo "FAIL $1: expected '$2', got '$3'"
}

"$build/fakebroker" --nodes 3 --port 0 --port-file "$dir/ports" >"$dir/ready" 2>"$dir/broker.log" &
broker=$!
for _ in $(seq 200); do [ -s "$dir/ports" ] && break; sleep 0.05; done
at=$(jq -r .bootstrap "$dir/ports")
control=$(jq -r .control "$dir/ports")
[ -n "$at" ] || { cat "$dir/broker.log"; exit 1; }

printf 'a\nb\n' | timeout 60 kcat -b "$at" -P -t paid -p 0 -X transactional.id=till-1 2>"$dir/log"
same 'a transaction is committed' 0 $?
got=$(timeout 60 kcat -b "$at" -C -t paid -p 0 -e -q -X isolation.level=read_committed 2>&1 | paste -sd ' ')
same 'its records are read' 'a b' "$got"
got=$(curl -s "$control/v1/partitions/paid/0" | jq -c '[.logEndOffset, .lastStableOffset]')
same 'a marker follows them' '[3,3]' "$got"
printf 'c\n' | timeout 60 kcat -b "$at" -P -t paid -p 0 -X transactional.id=till-1 2>"$dir/log"
same 'the next producer of the id goes on' 0 $?
got=$(timeout 60 kcat -b "$at" -C -t paid -p 0 -o 3 -e -q -X isolation.level=read_committed 2>&1)
same 'and is read from behind the marker' c "$got"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
