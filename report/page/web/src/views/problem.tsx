// The tests of a problem by solutions: which distinguish them, which none passes, which are flaky.
import { useEffect, useState } from 'preact/hooks'
import { term } from '../cells'
import { readGrid, type Grid, type GridTest, type Index } from '../data'
import { Mark } from '../marks'
import { link, replace, type Route } from '../route'
import { count, counted } from '../text'

const kinds: Record<string, string> = { separates: 'separate solutions', none: 'passed by none', flaky: 'differ between cells of a solution', all: 'passed by all', '': 'without a verdict' }
const states: Record<string, string> = { p: 'passed', f: 'failed', x: 'flaky', s: 'skipped', '-': 'absent' }
const mostRows = 500

export function Problem({ x, route }: { x: Index; route: Route }) {
  const at = x.matrix.problems.indexOf(route.name)
  const [grid, setGrid] = useState<Grid | Error>()
  useEffect(() => {
    setGrid(undefined)
    if (at >= 0) readGrid(x, at).then(setGrid, setGrid)
  }, [x, at])
  if (at < 0) return <div class="page"><h1>No such problem</h1><p>Run {x.runs[x.runs.length - 1].run} does not contain the problem {route.name}.</p></div>
  return (
    <article class="page">
      <header class="cellhead">
        <nav aria-label="Problems">
          <a href={link('matrix')}>Matrix</a>
          <a href={link('cells', '', { filter: term('problem', route.name) })}>All cells of this problem</a>
          {at > 0 && <a href={link('problem', x.matrix.problems[at - 1])} rel="prev">← easier</a>}
          {at + 1 < x.matrix.problems.length && <a href={link('problem', x.matrix.problems[at + 1])} rel="next">harder →</a>}
        </nav>
        <h1>{route.name}</h1>
      </header>
      {grid === undefined ? <p class="note" role="status">Reading…</p> : grid instanceof Error ? <p class="wrong" role="alert">{grid.message}</p> : <Tests grid={grid} route={route} />}
    </article>)
}

const nameOf = (t: GridTest) => [t.checkpoint, t.file && `${t.file}::${t.id}` || t.id].filter(Boolean).join(' ')

function Tests({ grid, route }: { grid: Grid; route: Route }) {
  const kind = route.params.get('kind') ?? '', one = route.params.get('test') ?? ''
  const to = (change: Record<string, string>) => link('problem', route.name, { kind, ...change })
  const test = grid.tests.find(t => nameOf(t) === one)
  if (test) return <Test grid={grid} t={test} problem={route.name} back={to({})} />
  if (grid.tests.length === 0) return <p class="note">No judged tests.</p>
  const present = Object.keys(kinds).filter(k => grid.tests.some(t => t.kind === k))
  const shown = kind === '' ? grid.tests : grid.tests.filter(t => t.kind === kind)
  return (
    <section aria-labelledby="grid">
      <h2 id="grid">{counted(grid.tests.length, 'test')} by {counted(grid.solutions.length, 'solution')}</h2>
      <p>{present.map(k => <button class="chip" aria-pressed={k === kind} onClick={() => replace(to({ kind: k === kind ? '' : k }))}>{count(grid.tests.filter(t => t.kind === k).length)} {kinds[k]}</button>)}</p>
      <div class="scroll" tabIndex={0} role="group" aria-label="Tests by solutions"><table class="grid">
        <thead><tr><th>test</th>{grid.solutions.map(s => <th class="turned"><span title={s}>{s}</span></th>)}<th class="right">pass</th></tr></thead>
        <tbody>{shown.slice(0, mostRows).map((t, i) => (
          <tr class={i > 0 && (shown[i - 1].checkpoint !== t.checkpoint || shown[i - 1].group !== t.group) ? 'begins' : ''}>
            <th scope="row"><a href={to({ test: nameOf(t) })}>{t.id}</a> <span class="dim">{[t.checkpoint, t.group].filter(Boolean).join(' · ')}</span></th>
            {grid.solutions.map((s, k) => <td><Mark of={states[t.states[k]]} title={`${s}: ${states[t.states[k]]}`} /></td>)}
            <td class="right">{t.passed}<span class="dim">/{t.judged}</span></td>
          </tr>))}</tbody>
      </table></div>
      {shown.length > mostRows && <p class="note">The first {count(mostRows)} of {count(shown.length)}.</p>}
    </section>)
}

/** A test, by solution. */
function Test({ grid, t, problem, back }: { grid: Grid; t: GridTest; problem: string; back: string }) {
  return (
    <section aria-labelledby="test">
      <p><a href={back}>All tests of {problem}</a></p>
      <h2 id="test">{t.id}</h2>
      <p class="dim">{[t.checkpoint, t.file, t.group, kinds[t.kind]].filter(Boolean).join(' · ')}; {t.passed} of {counted(t.judged, 'solution')} pass it</p>
      <ul class="list">{grid.solutions.map((s, k) => (
        <li><Mark of={states[t.states[k]]} /><div>
          <a href={link('cells', '', { filter: [term('problem', problem), term('solution', s)].join(',') })}>{s}</a> <span class="dim">{states[t.states[k]]}</span>
        </div></li>))}</ul>
    </section>)
}
