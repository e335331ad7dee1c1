# bash completion of fevalgraph. It needs no other package.
_fevalgraph() {
	local line=${COMP_LINE:0:COMP_POINT} reply directive word cut candidate
	local -a words lines
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	word=${words[-1]}
	reply=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return
	mapfile -t lines <<<"$reply"
	directive=${lines[-1]#:}
	unset 'lines[-1]'
	COMPREPLY=()
	if ((directive & 16)); then
		compopt -o dirnames 2>/dev/null
		return
	fi
	((directive & 2)) && compopt -o nospace 2>/dev/null
	# Bash replaces only what follows the last of its word breaks.
	cut=${word%"${word##*[:=]}"}
	for candidate in "${lines[@]}"; do
		candidate=${candidate%%$'\t'*}
		[[ $candidate == "$word"* ]] && COMPREPLY+=("${candidate#"$cut"}")
	done
	if ((!(directive & 4) && ${#COMPREPLY[@]} == 0)); then
		compopt -o default 2>/dev/null
	fi
}
complete -F _fevalgraph fevalgraph
