#!/bin/bash
# Release 3.9 as clients see it that were written before 0.10: librdkafka that is told not to ask for versions sends
# what the brokers of then took, Produce and Fetch 0 or 1 with messages of magic 0. The record of requests shows that it
# did.
cd "$(dirname "$0")/../.." || exit 2
. fixtures/tests/checks.sh

cat >"$dir/scenario.json" <<-'X'
	{"topics": [{"name": "old-0", "partitions": 4}, {"name": "old-1", "partitions": 4},
	 {"name": "new", "partitions": 5},
	 {"name": "stamped", "partitions": 1, "config": {"message.timestamp.type": "LogAppendTime"}}]}
X
start "$dir/scenario.json" --release 3.9 --port 0 || exit 1
at=$bootstrap

# kc RELEASE ARGUMENT...: kcat as of a time when brokers were of that release; "new": as it is.
kc() {
	local as=()
	[ "$1" = new ] || as=(-X api.version.request=false -X "broker.version.fallback=$1")
	timeout 60 kcat -b "$at" "${as[@]}" "${@:2}" 2>>"$dir/log"
}
# produce RELEASE TOPIC PARTITION CODEC ARGUMENT...: $dir/records.
produce() { kc "$1" -P -t "$2" -p "$3" -z "$4" -K = -Z -X linger.ms=50 "${@:5}" <"$dir/records"; }
# consume RELEASE TOPIC PARTITION [OFFSET [FORMAT]]
consume() { kc "$1" -C -t "$2" -p "$3" -o "${4:-beginning}" -e -q -X fetch.wait.max.ms=10 -f "${5:-%K %S %k=%s\n}"; }
# The versions of the API in which the topic was named.
versions() { curl -s "$control/v1/requests?api=$1&topic=$2&limit=1000" | jq -c '[.[].version] | unique'; }
# The [magic, codec] of all batches that the topic's partition was sent.
batches() {
	curl -s "$control/v1/requests?api=Produce&topic=$1&limit=1000" |
		jq -c --argjson partition "$2" '[.[].request.body.topicData[].partitionData[] |
			select(.index == $partition).batches[] | [.magic, .attributes % 8]] | unique'
}
# same WHAT: $dir/got is what was sent.
same() {
	if cmp -s "$dir/got" "$dir/wanted"; then ok "$1"
	else bad "$1: $(diff -a "$dir/got" "$dir/wanted" | head -3)"; fi
}
# sent WHAT TOPIC PARTITION CODEC MAGIC. A message alone is not compressed where that would not make it smaller, so that
# there may be batches of both kinds.
sent() {
	local codec=$4 found
	found=$(batches "$2" "$3")
	case $found in
	"[[$5,$codec]]" | "[[$5,0],[$5,$codec]]") ok "$1" ;;
	*) bad "$1: $found, not [[$5,$codec]]" ;;
	esac
}

# Keys and values of many lengths and all bytes but the two that kcat takes as delimiters; no key, no value.
export LC_ALL=C
{
	seq 1 200 | awk '{ printf "key-%d=value %d, and %d again\n", $1, $1, $1 }'
	printf '=no key\nno value=\n\001='
	for ((i = 1; i < 256; i++)); do printf -v byte '\\x%02x' "$i"; printf '%b' "$byte"; done | tr -d '\n='
	echo
} >"$dir/records"
awk -F= '{ printf "%d %d %s=%s\n", length($1) ? length($1) : -1, length($2) ? length($2) : -1, $1, $2 }' \
	"$dir/records" >"$dir/wanted"
equal 'records to send' "$(wc -l <"$dir/wanted") $(tail -1 "$dir/wanted" | wc -c)" '203 262'

codecs=(none gzip snappy lz4)
for old in 0.8.2.0:0 0.9.0.0:1; do
	version=${old#*:} old=${old%:*}
	for partition in 0 1 2 3; do
		codec=${codecs[partition]}
		produce "$old" "old-$version" $partition "$codec"
		sent "$old, $codec: sent as magic 0" "old-$version" $partition $partition 0
		consume "$old" "old-$version" $partition >"$dir/got"
		same "$old, $codec: the old client reads what it wrote"
	done
	equal "$old: Produce $version" "$(versions Produce "old-$version")" "[$version]"
	equal "$old: Fetch $version" "$(versions Fetch "old-$version")" "[$version]"
	for partition in 0 1 2 3; do
		consume new "old-$version" $partition >"$dir/got"
		same "$old, ${codecs[partition]}: a new client reads it"
	done
done
equal 'magic 0 has no timestamp' "$(consume new old-0 1 -1 '%o %T\n')" '202 -1'

for partition in 0 1 2 3; do
	codec=${codecs[partition]}
	produce new new $partition "$codec" -H trace=7
	sent "new, $codec: sent as magic 2" new $partition $partition 2
	for old in 0.8.2.0 0.9.0.0; do
		consume $old new $partition >"$dir/got"
		same "new, $codec: $old reads it"
	done
done
equal 'with Fetch 0 and 1' "$(versions Fetch new)" '[0,1]'
got=$(consume 0.9.0.0 new 1 150 '%o %k %T %h\n' | head -1)
equal 'an old client begins within a batch, and sees neither timestamp nor headers' "$got" '150 key-151 0 '
got=$(kc 0.9.0.0 -Q -t new:0:-1 && kc 0.9.0.0 -Q -t new:0:-2)
equal 'it asks for both ends' "$got" "$(printf 'new [0] offset 203\nnew [0] offset 0')"
equal 'with ListOffsets 0' "$(versions ListOffsets new)" '[0]'

curl -sX POST "$control/v1/clock" -d '{"now": 1700000000000, "frozen": true}' >/dev/null
cp "$dir/records" "$dir/all"
echo 'k=v' >"$dir/records"
produce 0.9.0.0 stamped 0 none
equal "the broker's time becomes that of magic 0" "$(consume new stamped 0 beginning '%k %s %T\n')" 'k v 1700000000000'

# The old client asks again and again.
mv "$dir/all" "$dir/records"
produce new new 4 zstd
last=$(curl -s "$control/v1/requests?limit=1" | jq '.[0].id')
timeout 60 kcat -b "$at" -X api.version.request=false -X broker.version.fallback=0.9.0.0 \
	-C -t new -p 4 -o beginning -e -q >"$dir/got" 2>>"$dir/log" &
pids+=($!)
curl -sX POST "$control/v1/wait" -d "{\"api\": \"Fetch\", \"after\": $last}" >/dev/null
got=$(curl -s "$control/v1/requests?api=Fetch&topic=new&limit=1" |
	jq -c '.[].response.body.responses[0].partitions[0] | [.partitionIndex, .errorCode]')
equal 'zstd is not converted: UNSUPPORTED_COMPRESSION_TYPE' "$got" '[4,76]'
finish
