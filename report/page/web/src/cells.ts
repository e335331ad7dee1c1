// Names, filters, search and order of cells.
import type { Column, Index } from './data'
import { picks, type Picks } from './address'
import { matchValue, parse, splitArguments, type Selector, type Term } from './selector'

/** Returns the value of a row in a column; "" if missing. */
export const value = (c: Column, i: number) => c.values[c.at[i]] ?? ''

/** Returns a cell's name as in selectors: problem/solution@backend, with "#2" for a repeat. */
export function cellName(x: Index, cell: number, checkpoint = ''): string {
  const c = x.cells
  const repeat = c.repeat[cell] > 1 ? '#' + c.repeat[cell] : ''
  return [value(c.problem, cell), checkpoint, value(c.solution, cell) + '@' + value(c.backend, cell) + repeat].filter(n => n !== '').join('/')
}

const found = new WeakMap<Index, Map<string, number>>()

/** Finds a cell by name. */
export function findCell(x: Index, name: string): number | undefined {
  let all = found.get(x)
  if (!all) {
    all = new Map()
    for (let i = 0; i < x.cells.repeat.length; i++) all.set(cellName(x, i), i)
    found.set(x, all)
  }
  return all.get(name)
}

/** The axes of selectors for results. */
export const axesOf = (x: Index) =>
  [...new Set(['backend', 'checkpoint', 'model', 'problem', 'repeat', 'solution', 'suite', 'verdict', ...Object.keys(x.cells.labels).map(l => 'label.' + l)])].sort()

type Test = (i: number) => boolean
const never: Test = () => false

/** Returns a test of rows that evaluates a predicate once for each value of a column. */
function onColumn(c: Column, predicate: (value: string) => boolean): Test {
  const holds = c.values.map(predicate)
  return i => holds[c.at[i]]
}

/** Returns a test for a term about cells; undefined for other terms. */
function cellTest(x: Index, t: Term): Test | undefined {
  const c = x.cells, match = matchValue(t.pattern)
  const label = t.axis === 'model' ? 'model' : t.axis.startsWith('label.') ? t.axis.slice(6) : undefined
  if (label !== undefined) return c.labels[label] ? onColumn(c.labels[label], match) : never
  switch (t.axis) {
    case 'problem': return onColumn(c.problem, match)
    case 'solution': return onColumn(c.solution, match)
    case 'backend': return onColumn(c.backend, match)
    case 'suite': return onColumn(c.suites, v => v.split('\n').some(match))
    case 'repeat': return i => match(String(c.repeat[i]))
  }
  return undefined
}

function checkpointTest(x: Index, t: Term): Test {
  const match = matchValue(t.pattern)
  return t.axis === 'checkpoint' ? onColumn(x.checkpoints.name, match) : onColumn(x.checkpoints.words, v => v.split(' ').some(match))
}

/** Returns a test of whether a selector matches a cell or one of its checkpoints. */
export function filterOf(x: Index, selector: Selector): Test {
  const some = selector.map(terms => conjunction(x, terms))
  return some.length === 1 ? some[0] : i => some.some(test => test(i))
}

function conjunction(x: Index, terms: Term[]): Test {
  const ofCell: Test[] = [], ofCheckpoint: Test[] = [], ofAddress: Picks[] = []
  for (const t of terms) {
    const test = t.axis === '' ? undefined : cellTest(x, t)
    if (t.axis === '') ofAddress.push(picks(x, t.pattern))
    else if (test) ofCell.push(test)
    else ofCheckpoint.push(checkpointTest(x, t))
  }
  const all = (tests: Test[], i: number) => tests.every(test => test(i))
  const picked = (cell: number, checkpoint?: number) => ofAddress.reduce((bits, p) => bits && bits & p(cell, checkpoint), checkpoint === undefined ? 1 : 3)
  const { from } = x.cells, { words } = x.checkpoints
  return i => {
    if (!all(ofCell, i)) return false
    if (ofCheckpoint.length === 0 && picked(i)) return true
    for (let k = from[i]; k < from[i + 1]; k++) {
      if (words.at[k] >= 0 && all(ofCheckpoint, k) && picked(i, k)) return true // rows without words represent cells without checkpoints
    }
    return false
  }
}

/** Returns a test of whether a cell's name or note contains all words of a text. */
function searchOf(x: Index, text: string): Test | undefined {
  const c = x.cells
  const tests = text.toLowerCase().split(/\s+/).filter(w => w !== '').map(word => {
    const has = (v: string) => v.toLowerCase().includes(word)
    const any = [onColumn(c.problem, has), onColumn(c.solution, has), onColumn(c.backend, has), onColumn(c.remark, has)]
    const across = /[/@#]/.test(word)
    return (i: number) => any.some(test => test(i)) || across && cellName(x, i).toLowerCase().includes(word)
  })
  return tests.length === 0 ? undefined : i => tests.every(test => test(i))
}

function outcomeOf(x: Index, outcome: string): Test | undefined {
  const at = x.checkpoints.outcome.values.indexOf(outcome), { from } = x.cells
  if (outcome === '') return undefined
  return i => {
    for (let k = from[i]; k < from[i + 1]; k++) if (x.checkpoints.outcome.at[k] === at) return true
    return false
  }
}

/** The columns by which cells can be sorted. */
export type Order = 'problem' | 'solution' | 'backend' | 'outcome' | 'score' | 'tests' | 'seconds'

const collator = new Intl.Collator('en', { numeric: true })

function keys(x: Index, order: Order): ArrayLike<number> {
  const c = x.cells, n = c.repeat.length
  const ranks = (column: Column, compare: (a: string, b: string) => number) => {
    const sorted = column.values.map((_, i) => i).sort((a, b) => compare(column.values[a], column.values[b]))
    const rank = new Int32Array(sorted.length)
    sorted.forEach((at, r) => { rank[at] = r })
    return Int32Array.from(column.at, at => rank[at])
  }
  switch (order) {
    case 'outcome': return ranks(c.outcome, (a, b) => x.outcomes.indexOf(a) - x.outcomes.indexOf(b))
    case 'seconds': return c.seconds
    case 'score': return Float64Array.from({ length: n }, (_, i) => c.score?.[i] ?? -Infinity)
    case 'tests': return Float64Array.from({ length: n }, (_, i) => { const [p, t] = testsOf(x, i); return t ? p / t : -1 })
    case 'problem': return Int32Array.from({ length: n }, (_, i) => i) // in the order of the data
    default: return ranks(c[order], collator.compare)
  }
}

/** Returns the numbers of passed tests and of all tests of a cell. */
export function testsOf(x: Index, cell: number): [number, number] {
  let passed = 0, total = 0
  for (let g = 0; g < x.groups.length; g++) {
    for (let k = x.cells.from[cell]; k < x.cells.from[cell + 1]; k++) {
      passed += x.checkpoints.passed[g][k]
      total += x.checkpoints.total[g][k]
    }
  }
  return [passed, total]
}

/** The state of the table. */
export interface Ask {
  filter: string // selectors
  search: string
  outcome: string // of some checkpoint
  sort: string // a leading "-" means descending
}

/** Returns the selected cells; throws errors in the filter. */
export function pick(x: Index, { filter, search, outcome, sort: order }: Ask): Int32Array {
  const selector = parse(splitArguments(filter), axesOf(x))
  const tests = [selector.length > 0 ? filterOf(x, selector) : undefined, searchOf(x, search), outcomeOf(x, outcome)].filter(t => t !== undefined)
  const picked = new Int32Array(x.cells.repeat.length)
  let n = 0
  for (let i = 0; i < picked.length; i++) {
    if (tests.every(test => test(i))) picked[n++] = i
  }
  const out = picked.subarray(0, n)
  const down = order.startsWith('-')
  if (order === '' || order === 'problem') return out
  const key = keys(x, order.replace('-', '') as Order)
  return out.sort((a, b) => (down ? key[b] - key[a] : key[a] - key[b]) || a - b)
}

/** Returns a selector term that matches exactly one name. */
export function term(axis: string, name: string): string {
  const plain = name.replaceAll('"', '')
  return /[\s,'"]/.test(name) ? `${axis}="${plain}"` : `${axis}=${plain}`
}
