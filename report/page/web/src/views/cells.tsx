import { useMemo } from 'preact/hooks'
import type { Index } from '../data'
import { axesOf, cellName, pick, testsOf, type Ask } from '../cells'
import { Mark, Tally, sign } from '../marks'
import { link, replace, type Route } from '../route'
import { Table, type ColumnOf } from '../table'
import { count, duration, score } from '../text'

const strip = 16 // maximum number of checkpoints as signs

/** The state of the table in the link. */
export function asked({ params }: Route): Ask {
  const of = (key: keyof Ask) => params.get(key) ?? ''
  return { filter: of('filter'), search: of('search'), outcome: of('outcome'), sort: of('sort') }
}

/** The part of that state that links to cells contain, for the way back. */
export const kept = (ask: Ask): Record<string, string> => ({ ...ask })

/** The selected cells, or an error in the filter. */
export function picked(x: Index, ask: Ask): { cells: Int32Array; wrong: string } {
  try {
    return { cells: pick(x, ask), wrong: '' }
  } catch (e) {
    return { cells: pick(x, { ...ask, filter: '' }), wrong: (e as Error).message }
  }
}

export function Cells({ x, route }: { x: Index; route: Route }) {
  const ask = asked(route)
  const { cells, wrong } = useMemo(() => picked(x, ask), [x, ask.filter, ask.search, ask.outcome, ask.sort])
  const to = (change: Partial<Ask>) => replace(link('cells', '', kept({ ...ask, ...change })))
  const columns = columnsOf(x)
  return (
    <div class="fill">
      <Filters x={x} ask={ask} to={to} wrong={wrong} found={cells.length} />
      <Table label="Cells" columns={columns} count={cells.length} order={ask.sort} onOrder={sort => to({ sort })} version={Object.values(ask).join('\n')}
        more={x.cells.remark.values.some(said => said) ? at => x.cells.remark.values[x.cells.remark.at[cells[at]]] : undefined}
        empty={<Empty clear={() => to({ filter: '', search: '', outcome: '' })} />} row={at => rowOf(x, cells[at], columns, ask)} />
    </div>)
}

/** Shown if no cell matches, with a way back. */
export const Empty = ({ clear }: { clear: () => void }) => <p class="empty">No matching cells. <button onClick={clear}>Show all cells</button></p>

export function Filters({ x, ask, to, wrong, found }: {
  x: Index; ask: Ask; to: (change: Partial<Ask>) => void; wrong: string; found: number
}) {
  return (
    <form class="filters" onSubmit={e => e.preventDefault()} role="search">
      <label><span>Search</span><input id="search" type="search" value={ask.search} placeholder="name or note" autocomplete="off" spellcheck={false}
        onInput={e => to({ search: e.currentTarget.value })} /></label>
      <label class="grow"><span>Selector</span><input id="filter" type="search" value={ask.filter} placeholder="problem=kv*,verdict=failed  solution=agent" autocomplete="off" spellcheck={false}
        aria-invalid={wrong !== ''} aria-describedby="wrong" list="axes" onInput={e => to({ filter: e.currentTarget.value })} /></label>
      <label class="few"><span>Verdict</span><select id="outcome" value={ask.outcome} onChange={e => to({ outcome: e.currentTarget.value })}>
        <option value="">any</option>
        {x.outcomes.filter(o => x.checkpoints.outcome.values.includes(o)).map(o => <option value={o}>{sign(o)} {o}</option>)}
      </select></label>
      <datalist id="axes">{['verdict=passed', 'verdict=failed', 'verdict=broken', ...axesOf(x).map(a => a + '=')].map(v => <option value={v} />)}</datalist>
      <output aria-live="polite">{count(found)} of {count(x.cells.repeat.length)}</output>
      <p id="wrong" class="wrong" role="status">{wrong}</p>
    </form>)
}

function columnsOf(x: Index): ColumnOf[] {
  const c = x.cells
  const scored = c.score !== null
  const tested = x.checkpoints.total.some(g => g.some(n => n > 0))
  return [
    { key: 'outcome', title: <span class="hidden">verdict</span>, label: 'verdict', width: '2.2rem', sorts: true },
    { key: 'problem', title: 'problem', label: 'problem', width: 'minmax(5rem, 1.4fr)', sorts: true, class: 'name' },
    { key: 'solution', title: 'solution', label: 'solution', width: 'minmax(5rem, 1.4fr)', sorts: true, class: 'name' },
    ...c.backend.values.length > 1 ? [{ key: 'backend', title: 'backend', label: 'backend', width: 'minmax(4rem, 0.7fr)', sorts: true, class: 'name wide' }] : [],
    ...scored ? [{ key: 'score', title: 'score', label: 'score', width: '4.5rem', sorts: true, class: 'right' }] : [],
    ...x.checkpoints.name.values.some(n => n !== '')
      ? [{ key: 'checkpoints', title: 'checkpoints', label: 'checkpoints in order', width: 'minmax(6rem, 0.8fr)', class: 'strip wide' }] : [],
    ...tested ? [{ key: 'tests', title: 'tests', label: 'passed tests of all', width: '5.5rem', sorts: true, class: 'right' }] : [],
    { key: 'seconds', title: 'time', label: 'total of all test sessions', width: '4.5rem', sorts: true, class: 'right wide' },
    { key: 'note', title: 'note', label: 'remark on the cell', width: 'minmax(8rem, 3fr)', class: 'note wider' },
  ]
}

function rowOf(x: Index, i: number, columns: ColumnOf[], ask: Ask) {
  const c = x.cells, outcome = c.outcome.values[c.outcome.at[i]]
  const cell = (key: string) => {
    switch (key) {
      case 'outcome': return <Mark of={outcome} />
      case 'problem': return c.problem.values[c.problem.at[i]]
      case 'solution': return c.solution.values[c.solution.at[i]] + (c.repeat[i] > 1 ? ' #' + c.repeat[i] : '')
      case 'backend': return c.backend.values[c.backend.at[i]]
      case 'score': return c.score?.[i] == null ? <span class="dim">·</span> : score(c.score[i]!)
      case 'checkpoints': return <Strip x={x} cell={i} />
      case 'tests': { const [passed, total] = testsOf(x, i); return <Tally passed={passed} total={total} matters={outcome !== 'passed'} /> }
      case 'seconds': return duration(c.seconds[i])
    }
    return c.remark.values[c.remark.at[i]]
  }
  return { key: i, href: link('cell', cellName(x, i), kept(ask)), cells: columns.map(col => cell(col.key)) }
}

/** The checkpoints of a cell as signs. */
export function Strip({ x, cell }: { x: Index; cell: number }) {
  const { name, outcome } = x.checkpoints
  const from = x.cells.from[cell], to = x.cells.from[cell + 1]
  const marks = []
  for (let k = from; k < Math.min(to, from + strip); k++) {
    const o = outcome.values[outcome.at[k]]
    marks.push(<Mark of={o} title={`${name.values[name.at[k]] || 'verdict'}: ${o}`} />)
  }
  return <>{marks}{to - from > strip && <span class="dim">+{to - from - strip}</span>}</>
}
