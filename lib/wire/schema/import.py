#!/usr/bin/env python3
"""Make the Kafka message schemas of this directory from the message JSON inside Kafka's jars.

The text form, the union rule and the way to take in a new release are described in docs/messages.md.
Facts are taken over (names, types, version ranges, tags, defaults), Kafka's descriptions are not.
"""
import argparse
import json
import re
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

sys.dont_write_bytecode = True		# no __pycache__ among the schemas
from textform import OPEN, Field, Message, Problem, every, parse_range, range_text, read_text, span, valid

HERE = Path(__file__).resolve().parent

# ---- What the jars do not say ----------------------------------------------------------------------------------------

# Older name of a message: its name now.
RENAMED_MESSAGES = {
	"ListClientMetricsResourcesRequest": "ListConfigResourcesRequest",	# API 74, KIP-1142
	"ListClientMetricsResourcesResponse": "ListConfigResourcesResponse",
}

# Message (name now): older name of a field or a struct: its name now. The older name of a field stays as an alias.
RENAMED = {
	"ListConfigResourcesResponse": {
		"ClientMetricsResources": "ConfigResources", "ClientMetricsResource": "ConfigResource", "Name": "ResourceName"},
	"TxnOffsetCommitRequest": {"GenerationId": "GenerationIdOrMemberEpoch"},
	"VoteRequest": {"CandidateEpoch": "ReplicaEpoch", "CandidateId": "ReplicaId",
		"CandidateDirectoryId": "ReplicaDirectoryId"},
}

# (Release, message): why that release's form of the message is left out.
OVERRULED = {
	("3.9", "ReadShareGroupStateSummaryResponse"):
		"share groups were early access in 3.9; LeaderEpoch was added to version 0 in place",
	("3.9", "ShareGroupMetadataValue"):
		"share groups were early access in 3.9; MetadataHash was added to version 0 in place",
}

# Kind and record type of messages that are gone since the JSON says these.
RECORDS = {
	"ShareGroupPartitionMetadataKey": ("coordinator-key", 9),
	"ShareGroupPartitionMetadataValue": ("coordinator-value", 9),
}

# Jar: the topic whose records it describes.
TOPICS = {
	"kafka-group-coordinator": "__consumer_offsets",
	"kafka-transaction-coordinator": "__transaction_state",
	"kafka-share-coordinator": "__share_group_state",
	"kafka-metadata": "__cluster_metadata",
	"kafka-storage": "__remote_log_metadata",
}


# ---- Reading Kafka's JSON --------------------------------------------------------------------------------------------

def default_text(raw, kind):
	"""A default as the text form has it, "" for the type's own. To Kafka's generator a JSON null is no default at all;
	the null value is the string "null"."""
	text = "" if raw is None else str(raw)
	if kind == "bool":
		text = "true" if text.lower() == "true" else ""
	elif re.fullmatch(r"u?int\d+", kind) and text:
		text = str(int(text, 0) or "")
	if re.search(r"\s", text):
		raise Problem(f"default '{text}' has a space; the text form cannot hold it")
	return text


def json_field(f, names):
	tagged = parse_range(f.get("taggedVersions", "none"))
	array = "[]" if f["type"].startswith("[]") else ""
	base = f["type"].removeprefix("[]")
	name = names.get(f["name"], f["name"])
	return Field(name, array + names.get(base, base),
		parse_range(f["versions"]) if "versions" in f else tagged,
		parse_range(f.get("nullableVersions", "none")), int(f["tag"]) if "tag" in f else None, tagged,
		default_text(f.get("default"), f["type"]), f.get("ignorable", False), f.get("mapKey", False),
		f.get("flexibleVersions") != "none", f.get("entityType", ""), f["name"] if name != f["name"] else "",
		[json_field(child, names) for child in f.get("fields", [])])


def json_message(source, jar):
	# Comments go, but not the // inside strings.
	j = json.loads(re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda m: m[1] or "", source))
	name = RENAMED_MESSAGES.get(j["name"], j["name"])
	names = RENAMED.get(name, {})
	message = Message(name, j["type"], j.get("apiKey"), parse_range(j["validVersions"]),
		parse_range(j.get("flexibleVersions", "none")), j.get("listeners", []),
		j["name"] if name != j["name"] else "", j.get("latestVersionUnstable", False), [],
		[json_field(f, names) for f in j.get("fields", [])],
		[json_field({"type": s["name"], **s}, names) for s in j.get("commonStructs", [])])
	topic = TOPICS.get(jar)
	if topic and name != "ProducerSnapshot":	# a file beside the log
		message.notes = [f"Record of {topic}."]
	if topic == "__remote_log_metadata" and message.key is not None:
		message.notes = [f"Record type {message.key} of {topic}."]
		message.kind, message.key = "data", None	# the record types of `kind metadata` are those of __cluster_metadata
	if message.kind == "data" and topic and name.endswith("Key"):
		# In 3.9 the record type is the version of the key; later it is the API key, and the only version is 0. Either way
		# the type comes first on the wire, so nothing changes but the name of these two bytes.
		message.versions = (0, 0)
		for _, f in every(message.fields):
			f.versions = (0, 0)
	message.kind, message.key = RECORDS.get(name, (message.kind, message.key))
	return message


def read_jars(paths):
	"""{release: {name: message}}, oldest release first; the release is in the jars' names."""
	releases = {}
	for path in paths:
		match = re.fullmatch(r"(.+)-(\d+\.\d+)\.\d+.*\.jar", Path(path).name)
		if not match:
			raise Problem(f"{path}: the name has no release, as in kafka-clients-4.4.0.jar")
		messages = releases.setdefault(match[2], {})
		with zipfile.ZipFile(path) as jar:
			for entry in jar.namelist():
				if re.fullmatch(r"(common/)?(message|metadata)/\w+\.json", entry):
					try:
						message = json_message(jar.read(entry).decode(), match[1])
					except (Problem, ValueError, KeyError) as e:
						raise Problem(f"{path}: {entry}: {type(e).__name__}: {e}") from e
					if message.name in messages:
						raise Problem(f"{path}: {message.name} is there twice in {match[2]}")
					messages[message.name] = message
	for release, messages in releases.items():
		if not messages:
			raise Problem(f"no message in the jars of {release}; the requests are in kafka-clients")
	return dict(sorted(releases.items(), key=lambda item: [int(n) for n in item[0].split(".")]))


def read_releases(old, new):
	older, newest = read_jars(old), read_jars(new)
	if len(newest) > 1 or newest.keys() & older.keys():
		raise Problem(f"--new takes the jars of one release, and --old none of that; --new has {', '.join(newest)}")
	return older | newest


# ---- Union -----------------------------------------------------------------------------------------------------------

def as_range(versions, is_open, all_versions, where):
	"""The set `versions` as a range; open if that says the same and the newest release said it so."""
	if not versions:
		return None
	low, high = min(versions), max(versions)
	if len(versions) != high - low + 1:
		raise Problem(f"{where}: versions {sorted(versions)} are no single range")
	return low, OPEN if is_open and high == max(all_versions) else high


def is_heard(f, present):
	"""`ignorable` says something only if the struct has a version without the field."""
	return bool(present - span(f.versions, present))


def join_field(old, new, present_old, present_new, all_versions, where):
	"""One field of the union; old or new may be missing. present_*: the versions that have the struct."""
	newest = new or old
	where = f"{where}/{newest.name}"
	in_old = span(old.versions, present_old) if old else set()
	in_new = span(new.versions, present_new) if new else set()

	def joined(attribute, of_old, of_new):
		a, b = getattr(old, attribute, None), getattr(new, attribute, None)
		return as_range(span(a, of_old) | span(b, of_new), (b or a or (0, 0))[1] == OPEN, all_versions, where)

	ignorable = newest.ignorable
	if old and new and old.ignorable != new.ignorable and is_heard(old, present_old):
		if is_heard(new, present_new):
			raise Problem(f"{where}: ignorable in one release, not in the other")
		ignorable = old.ignorable
	return replace(newest, versions=joined("versions", present_old, present_new), null=joined("null", in_old, in_new),
		tagged=joined("tagged", in_old, in_new), ignorable=ignorable, alias=newest.alias or (old.alias if old else ""),
		fields=join_fields(old.fields if old else [], new.fields if new else [], in_old, in_new, all_versions, where))


def join_fields(olds, news, present_old, present_new, all_versions, where):
	"""The newest release's order, with what only the older one has behind the field that it followed there."""
	by_name = {f.name: f for f in olds}
	joined = [join_field(by_name.get(f.name), f, present_old, present_new, all_versions, where) for f in news]
	at = 0
	for old in olds:
		names = [f.name for f in joined]
		if old.name not in names:
			joined.insert(at, join_field(old, None, present_old, present_new, all_versions, where))
			at += 1
		else:
			at = names.index(old.name) + 1
	return [f for f in joined if f.versions]


def join(old, new):
	"""The union of one message of two releases; either may be missing."""
	newest, valid_old, valid_new = new or old, valid(old), valid(new)
	versions = valid_old | valid_new
	if not versions:
		return newest
	flexible = set().union(*(span(m.flexible, valid(m)) for m in (old, new) if m))
	listed = new if new and new.listeners or not old else old
	message = replace(newest, versions=as_range(versions, False, versions, newest.name),
		flexible=as_range(flexible, True, versions, newest.name), listeners=listed.listeners,
		alias=newest.alias or (old.alias if old else ""), notes=newest.notes or (old.notes if old else []))
	for part in ("fields", "structs"):
		setattr(message, part, join_fields(getattr(old, part, []), getattr(new, part, []), valid_old, valid_new,
			versions, newest.name))
	return message


# ---- Checks ----------------------------------------------------------------------------------------------------------

def check_fields(ours, theirs, version, where):
	"""At one version: the untagged fields must be the same, in order; tagged ones may be more (a release may add them)."""
	def part(fields):
		here = [f for f in fields if span(f.versions, {version})]
		tagged = {f.tag: f for f in here if span(f.tagged, {version})}
		return [f for f in here if tagged.get(f.tag) is not f], tagged

	(ours_plain, ours_tagged), (plain, tagged) = part(ours), part(theirs)
	if [f.name for f in ours_plain] != [f.name for f in plain]:
		return [f"{where}: fields are {', '.join(f.name for f in plain)}; the union has "
			f"{', '.join(f.name for f in ours_plain)}"]
	problems = [f"{where}: tag {tag} is missing in the union" for tag in tagged if tag not in ours_tagged]
	pairs = list(zip(ours_plain, plain)) + [(ours_tagged[t], tagged[t]) for t in tagged if t in ours_tagged]
	for a, b in pairs:
		for what, x, y in (("name", a.name, b.name), ("type", a.type, b.type), ("default", a.default, b.default),
				("compactness", a.compact, b.compact),
				("nullability", span(a.null, {version}), span(b.null, {version}))):
			if x != y:
				problems.append(f"{where}/{b.name}: {what} is {y or 'none'}; the union has {x or 'none'}")
		problems += check_fields(a.fields, b.fields, version, f"{where}/{b.name}")
	return problems


def check_release(union, release, messages):
	"""Filtering the union by a version must give what each release has at that version."""
	problems = []
	for theirs in messages.values():
		ours = union[theirs.name]
		if (ours.kind, ours.key) != (theirs.kind, theirs.key) and theirs.kind != "data":
			problems.append(f"{ours.name}: {release} calls it {theirs.kind} {theirs.key}")
		for version in sorted(valid(theirs)):
			where = f"{theirs.name} version {version} in {release}"
			if span(ours.flexible, {version}) != span(theirs.flexible, {version}):
				problems.append(f"{where}: flexible in one, not in the other")
			problems += check_fields(ours.fields, theirs.fields, version, where)
			for struct in theirs.structs:
				same = [s for s in ours.structs if s.name == struct.name]
				problems += check_fields(same, [struct], version, where)
	return problems


def check_message(message):
	"""No field, struct or tag twice."""
	problems, structs = [], [s.name for s in message.structs]
	for path, f in [("", message)] + list(every(message.fields + message.structs)):
		names = [child.name for child in f.fields]
		tags = [child.tag for child in f.fields if child.tagged]
		structs += [child.type.removeprefix("[]") for child in f.fields if child.fields]
		if len(set(names)) < len(names) or len(set(tags)) < len(tags):
			problems.append(f"{message.name}/{path}: a field or a tag is there twice")
	if len(set(structs)) < len(structs):
		problems.append(f"{message.name}: a struct is defined twice")
	return problems


# ---- Output ----------------------------------------------------------------------------------------------------------

def make_union(releases):
	union = {}
	for messages in releases.values():
		for name, message in messages.items():
			union[name] = join(union.get(name), message)
	for name, message in union.items():
		message.notes[:0] = ["; ".join(f"Kafka {release}: {range_text(messages[name].versions)}"
			for release, messages in releases.items() if name in messages) + "."]
		message.notes += [f"Kafka {release}'s is left out: {why}." for (release, overruled), why in OVERRULED.items()
			if overruled == name]
	return union


def add_kit(union):
	"""Put the kit's own versions on top: kit/NAME.msg has the version and the fields to append."""
	for path in sorted((HERE / "kit").glob("*.msg")):
		kit = read_text(path)
		message = union.get(kit.name)
		if not message or not kit.versions or kit.versions[0] != message.versions[1] + 1:
			raise Problem(f"{path}: not the version after {kit.name}'s last one")
		message.versions = message.versions[0], kit.versions[1]
		message.fields += kit.fields
		message.notes += kit.notes


def apis_text(releases):
	rows, unstable = {}, []
	for release, messages in releases.items():
		for m in (m for m in messages.values() if m.kind == "request"):
			row = rows.setdefault(m.key, {})
			row["name"] = m.name.removesuffix("Request")
			row[release] = range_text(m.versions) if m.versions else "-"
			row["listeners"] = " ".join(m.listeners) or row.get("listeners", "-")
			if m.unstable:
				unstable.append((release, m.key, f"# Kafka {release} holds {row['name']} {m.versions[1]} back as unstable."))
	lines = ["# " + " ".join(["key", "name", *(f"{release}-range" for release in releases), "listeners"])]
	lines += ['# Made by import.py. Ranges are those of the request schemas; "-": no version.']
	lines += [line for _, _, line in sorted(unstable)]
	lines += [" ".join([str(key), row["name"], *(row.get(release, "-") for release in releases), row["listeners"]])
		for key, row in sorted(rows.items())]
	return "\n".join(lines) + "\n"


def write(union, releases, out):
	"""Write all files of `out` anew; a .msg file that no release has goes."""
	out.mkdir(parents=True, exist_ok=True)
	for path in out.glob("*.msg"):
		if path.stem not in union:
			path.unlink()
	for name, message in union.items():
		(out / f"{name}.msg").write_text(message.text())
	(out / "apis.txt").write_text(apis_text(releases))
	versions = sum(len(valid(m)) for m in union.values())
	print(f"{len(union)} messages, {versions} message-versions, "
		f"{sum(1 for m in union.values() if m.kind == 'request')} APIs from Kafka {', '.join(releases)}")


def lines_by_path(message):
	lines = {line.split(" ")[0]: line for line in message.header()}
	for start, fields in ("/", message.fields), ("struct ", message.structs):
		lines |= {start + path: start.strip("/") + path + f.line()[len(f.name):] for path, f in every(fields)}
	return lines


def diff(have, new):
	"""What a release adds to the files or changes in them, a line each: "+" is new, "~" is before -> after."""
	for name, message in sorted(new.items()):
		if name not in have:
			print(f"+ {name}: " + ", ".join(message.header()[1:]))
			continue
		before, after = lines_by_path(have[name]), lines_by_path(join(have[name], message))
		for path, line in after.items():
			if path not in before:
				print(f"+ {name}: {line}")
			elif before[path] != line:
				print(f"~ {name}: {before[path]} -> {line}")


def arguments():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
		epilog="Jars are told apart by the release in their name (kafka-clients-4.4.0.jar); jars without messages may be"
			" among them.\nEvery release must agree with the outcome, version by version; nothing is written if one does not.\n"
			"Exit status: 0 done, 1 a problem (the releases disagree, a bad file), 2 bad usage.")
	parser.add_argument("--old", nargs="+", default=[], metavar="JAR", help="jars of the older releases, one or more")
	parser.add_argument("--new", nargs="+", required=True, metavar="JAR", help="jars of the newest release; its names win")
	parser.add_argument("--out", type=Path, default=HERE, metavar="DIR",
		help="directory of the .msg files and apis.txt (default: this script's)")
	parser.add_argument("--diff", action="store_true",
		help="write nothing; print what --new adds to the files in DIR or changes in them")
	args = parser.parse_args()
	if args.diff and args.old:
		parser.error("--diff compares --new with the files; --old is not for it")
	return args


def main():
	args = arguments()
	try:
		releases = read_releases(args.old, args.new)
		parts = {release: {name: m for name, m in messages.items() if (release, name) not in OVERRULED}
			for release, messages in releases.items()}
		if args.diff:
			have = {path.stem: read_text(path) for path in sorted(args.out.glob("*.msg"))}
			(new,) = parts.values()
			diff(have, new)
			union = have | {name: join(have.get(name), m) for name, m in new.items()}
			parts["the files"] = have
		else:
			union = make_union(parts)
			add_kit(union)
		problems = [p for m in union.values() for p in check_message(m)]
		for release, messages in parts.items():
			problems += check_release(union, release, messages)
		if problems:
			raise Problem("\n".join(problems))
		if not args.diff:
			write(union, releases, args.out)
	except (Problem, OSError, zipfile.BadZipFile) as e:
		sys.exit(f"import.py: {e}")


if __name__ == "__main__":
	main()
