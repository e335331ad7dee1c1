// Compares results of the page with those of the program: node shared.js TESTDATA/shared.json
import { readFileSync } from 'node:fs'
import { pick } from '../src/cells'
import type { Index } from '../src/data'
import { diff, hunks, sides } from '../src/diff'
import { splitArguments } from '../src/selector'
import { duration, visible } from '../src/text'

interface Shared {
  index: Index
  selectors: { args: string[]; line: string; cells: number[]; error?: boolean }[]
  visible: [string, string][]
  durations: { seconds: number; text: string }[]
}

const shared: Shared = JSON.parse(readFileSync(process.argv[2], 'utf8'))
let compared = 0, failed = 0

function same(what: string, got: unknown, want: unknown) {
  compared++
  if (JSON.stringify(got) === JSON.stringify(want)) return
  failed++
  console.error(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

for (const s of shared.selectors) {
  let got: number[] | string
  try {
    got = [...pick(shared.index, { filter: s.line, search: '', outcome: '', sort: '' })]
  } catch (e) {
    got = 'error: ' + (e as Error).message
  }
  if (s.error && typeof got === 'string') got = 'error'
  same(s.line, got, s.error ? 'error' : s.cells)
  if (!s.args.some(a => a.includes("'"))) same(`the arguments of ${s.line}`, splitArguments(s.line), s.args)
}
for (const [text, want] of shared.visible) same(`visible ${JSON.stringify(text)}`, visible(text), want)
for (const d of shared.durations) same(`duration ${d.seconds}`, duration(d.seconds), d.text)

/** Returns the minimum number of differing lines. */
function least(a: string[], b: string[]): number {
  let row = b.map((_, k) => k + 1)
  row.unshift(0)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let k = 0; k < b.length; k++) next.push(a[i] === b[k] ? row[k] : 1 + Math.min(row[k + 1], next[k]))
    row = next
  }
  return row[b.length]
}

let seed = 1
const random = (n: number) => (seed = seed * 48271 % 2147483647) % n
const some = (most: number, letters: number) => Array.from({ length: random(most) }, () => String(random(letters)))
for (let round = 0; round < 400; round++) {
  const a = some(30, 1 + round % 9), b = some(30, 1 + round % 9)
  const edits = diff(a, b), what = `the difference of ${a} and ${b}`
  same(what, edits.filter(e => e.sign !== '+').map(e => [e.text, e.before]), a.map((l, i) => [l, i + 1]))
  same(what, edits.filter(e => e.sign !== '-').map(e => [e.text, e.after]), b.map((l, i) => [l, i + 1]))
  same(what, edits.filter(e => e.sign !== ' ').length, least(a, b))
  same(what, hunks(edits).flat().filter(e => e.sign !== ' ').length, least(a, b))
  same(what, sides(edits).flatMap(([l, r]) => l === r ? [] : [l, r]).filter(e => e).length, least(a, b))
}
// Files without common lines must not take quadratic time.
const many = (letter: string) => Array.from({ length: 20000 }, (_, i) => letter + i)
same('files without common lines', diff(many('a'), many('b')).map(e => e.sign).join('') === '-'.repeat(20000) + '+'.repeat(20000), true)

console.log(`compared ${compared}, ${failed} differ`)
process.exit(failed === 0 && compared > 100 ? 0 : 1)
