[ "$(stat -c %a%h made/private/file)" = 6002 ] || echo "the mode or the links of a file are others" >&2
[ "$(stat -c %a made/private)" = 500 ] || echo "the mode of a directory is another" >&2
[ "$(stat -c %Y made/old)" = "$(date -d '2001-02-03 04:05:06' +%s)" ] || echo "the time of a file is another" >&2
[ made/private/file -nt made/old ] || echo "what is newer is older" >&2
[ "$(readlink made/link)" = /etc/passwd ] || echo "a link leads elsewhere" >&2
exec sh answer/run.sh
