#!/bin/bash
# A client that is not ours, kcat: transactions, a compacted topic, what --lax stored.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh

# ask HOST:PORT HEX: sends a request, waits for the first bytes of its answer
ask() {
	exec 5<>"/dev/tcp/${1%:*}/${1##*:}"
	printf '%b' "$(printf '%08x%s' $((${#2} / 2)) "$2" | sed 's/../\\x&/g')" >&5
	head -c 4 <&5 >/dev/null
	exec 5>&-
}

start --nodes 3 --port 0 || exit 1
at=$bootstrap

printf 'a\nb\n' | timeout 60 kcat -b "$at" -P -t paid -p 0 -X transactional.id=till-1 2>"$dir/log"
equal 'a transaction is committed' $? 0
got=$(timeout 60 kcat -b "$at" -C -t paid -p 0 -e -q -X isolation.level=read_committed 2>&1 | paste -sd ' ')
equal 'its records are read' "$got" 'a b'
got=$(curl -s "$control/v1/partitions/paid/0" | jq -c '[.logEndOffset, .lastStableOffset]')
equal 'a marker follows them' "$got" '[3,3]'
printf 'c\n' | timeout 60 kcat -b "$at" -P -t paid -p 0 -X transactional.id=till-1 2>"$dir/log"
equal 'the next producer of the id goes on' $? 0
got=$(timeout 60 kcat -b "$at" -C -t paid -p 0 -o 3 -e -q -X isolation.level=read_committed 2>&1)
equal 'and is read from behind the marker' "$got" c

stop "$pid"
start --set log.cleanup.policy=compact --port 0 || exit 1
at=$bootstrap
printf '%s\n' a=1 b=1 a=2 c=1 b=2 c= | timeout 60 kcat -b "$at" -P -t latest -p 0 -K = -Z -X linger.ms=0 2>"$dir/log"
got=$(curl -s "$control/v1/partitions/latest/0/compact" -d '{"roll": true}' | jq -c '[.recordsRead, .recordsKept]')
equal 'of six records three stay' "$got" '[6,3]'
got=$(timeout 60 kcat -b "$at" -C -t latest -p 0 -e -q -f '%o %k %S\n' 2>&1 | paste -sd ,)
equal 'the latest of each key, a tombstone among them' "$got" '2 a 1,4 b 1,5 c -1'
got=$(timeout 60 kcat -b "$at" -C -t latest -p 0 -o 3 -e -q -f '%o\n' 2>&1 | paste -sd ,)
equal 'a reader may begin where nothing is left' "$got" '4,5'

stop "$pid"
start --lax --port 0 || exit 1
at=$bootstrap
header=0000000300000001000178
batch=000000000000006300000039ffffffff02deadbeef00000000000000000000000000010000000000000002
batch+=ffffffffffffffffffffffffffff000000010e00000001027600
echo before | timeout 60 kcat -b "$at" -P -t lax -p 0 2>"$dir/log"
ask "$at" "${header}ffffffff000013880000000100036c6178000000010000000000000045$batch"
echo after | timeout 60 kcat -b "$at" -P -t lax -p 0 2>"$dir/log"
got=$(timeout 60 kcat -b "$at" -C -t lax -p 0 -e -q -f '%o %s\n' 2>&1 | paste -sd ,)
equal 'who does not look at the CRC reads on' "$got" '0 before,1 v,2 after'
got=$(timeout 60 kcat -b "$at" -C -t lax -p 0 -e -q -f '%o %s\n' -X check.crcs=true 2>&1 |
	grep -o '^0 before\|failed CRC32C check' | sort)
equal 'who does, complains' "$got" "$(printf '0 before\nfailed CRC32C check')"

finish
