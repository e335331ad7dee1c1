awk 'NR > 1 && $1 > before { run++ } !(NR > 1 && $1 > before) { run = 1 } { before = $1; if (run > longest) longest = run } END { print longest + 0 }'
