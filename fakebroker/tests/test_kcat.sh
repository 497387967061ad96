#!/bin/bash
# A client that is not ours, kcat: transactions, a compacted topic, what --lax stored.
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

# start OPTION...
start() {
	[ -z "$broker" ] || { kill "$broker"; wait "$broker"; }
	rm -f "$dir/ports"
	"$build/fakebroker" "$@" --port 0 --port-file "$dir/ports" >"$dir/ready" 2>"$dir/broker.log" &
	broker=$!
	for _ in $(seq 200); do [ -s "$dir/ports" ] && break; sleep 0.05; done
	[ -s "$dir/ports" ] || { cat "$dir/broker.log"; exit 1; }
	at=$(jq -r .bootstrap "$dir/ports")
	control=$(jq -r .control "$dir/ports")
}

# ask HOST:PORT HEX: sends a request, waits for the first bytes of its answer
ask() {
	exec 5<>"/dev/tcp/${1%:*}/${1##*:}"
	printf '%b' "$(printf '%08x%s' $((${#2} / 2)) "$2" | sed 's/../\\x&/g')" >&5
	head -c 4 <&5 >/dev/null
	exec 5>&-
}

start --nodes 3

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

start --set log.cleanup.policy=compact
printf '%s\n' a=1 b=1 a=2 c=1 b=2 c= | timeout 60 kcat -b "$at" -P -t latest -p 0 -K = -Z -X linger.ms=0 2>"$dir/log"
got=$(curl -s "$control/v1/partitions/latest/0/compact" -d '{"roll": true}' | jq -c '[.recordsRead, .recordsKept]')
same 'of six records three stay' '[6,3]' "$got"
got=$(timeout 60 kcat -b "$at" -C -t latest -p 0 -e -q -f '%o %k %S\n' 2>&1 | paste -sd ,)
same 'the latest of each key, a tombstone among them' '2 a 1,4 b 1,5 c -1' "$got"
got=$(timeout 60 kcat -b "$at" -C -t latest -p 0 -o 3 -e -q -f '%o\n' 2>&1 | paste -sd ,)
same 'a reader may begin where nothing is left' '4,5' "$got"

start --lax
header=0000000300000001000178
batch=000000000000006300000039ffffffff02deadbeef00000000000000000000000000010000000000000002
batch+=ffffffffffffffffffffffffffff000000010e00000001027600
echo before | timeout 60 kcat -b "$at" -P -t lax -p 0 2>"$dir/log"
ask "$at" "${header}ffffffff000013880000000100036c6178000000010000000000000045$batch"
echo after | timeout 60 kcat -b "$at" -P -t lax -p 0 2>"$dir/log"
got=$(timeout 60 kcat -b "$at" -C -t lax -p 0 -e -q -f '%o %s\n' 2>&1 | paste -sd ,)
same 'who does not look at the CRC reads on' '0 before,1 v,2 after' "$got"
got=$(timeout 60 kcat -b "$at" -C -t lax -p 0 -e -q -f '%o %s\n' -X check.crcs=true 2>&1 |
	grep -o '^0 before\|failed CRC32C check' | sort)
same 'who does, complains' "$(printf '0 before\nfailed CRC32C check')" "$got"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
