# Completion of trapline for bash: source it, or put it where bash-completion looks (share/bash-completion/completions/trapline).

# Words that the machine knows: asked for once in a shell.
_trapline_listed() {
	local name=_trapline_words_${1#-}
	[ -n "${!name-}" ] || printf -v "$name" '%s' "$(trapline list "$1" 2>/dev/null </dev/null)"
	printf '%s\n' "${!name}"
}

# The options that a command's help tells.
_trapline_options() {
	trapline help "$1" 2>/dev/null | grep -oE '(^|[ ,;])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,;'
}

_trapline_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# What follows the option before the word; false: it takes nothing that we know.
_trapline_value() {
	local command=$1 option=$2 word=$3 words
	case $command:$option in
	explore:--until) words='panic hang exit ledger rv= event=' ;;
	explore:--seeds | explore:--from | explore:--limit | explore:-j | explore:--jobs | explore:--commands | record:--seeds) return ;;
	record:-e | explore:-e) words=$(_trapline_listed -e; _trapline_listed -e | cut -d : -f 1 | sort -u; _trapline_listed -e | cut -d : -f 2; echo user_events all) ;;
	record:-C | explore:-C) words=$(_trapline_listed -C) ;;
	record:-p | explore:-p) words=$(_trapline_listed -p) ;;
	record:-O | explore:-O) words=$(_trapline_listed -O) ;;
	convert:--to) words='text json perfetto ctf' ;;
	goto:-m | goto:--match | goto:--nth | goto:--port | explain:-t | explain:--task | *:--span) return ;;
	*:--dir) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
	*:-o | *:--output | *:--kernel | *:--copy | *:--initrd | *:--input | *:--keep | *:--get) _trapline_files "$word"; return ;;
	*:-f | *:-R | *:-c | *:-b | *:-M | *:-s | *:-n | *:-i | *:--define | *:--tail | *:--cpu | *:--smp | *:--mem | *:--timeout | *:--before | *:--after) return ;;
	*) return 1 ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	__ltrim_colon_completions "$word" 2>/dev/null || COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}

_trapline() {
	local line=${COMP_LINE:0:COMP_POINT} word before command
	local -a typed
	read -ra typed <<<"$line"
	# Not COMP_WORDS, which bash cuts at colons.
	[[ $line == *[[:space:]] ]] && typed+=("")
	word=${typed[-1]}
	before=${typed[-2]-}
	command=${typed[1]-}
	COMPREPLY=()
	if [ ${#typed[@]} -le 2 ] || { [ ${#typed[@]} = 3 ] && [ "$command" = help ]; }; then
		mapfile -t COMPREPLY < <(compgen -W "$(trapline --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p') help --version" -- "$word")
		return
	fi
	_trapline_value "$command" "$before" "$word" && return
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_trapline_options "$command")" -- "$word")
	elif [ "$command" = list ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_trapline_listed -e; _trapline_listed -e | cut -d : -f 2)" -- "$word")
		COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
	else
		_trapline_files "$word"
	fi
}

complete -F _trapline trapline
