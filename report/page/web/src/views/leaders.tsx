import { term } from '../cells'
import type { Figure, Index, Leader } from '../data'
import { link, replace, type Route } from '../route'
import { count, percent, score } from '../text'

export function Leaders({ x, route }: { x: Index; route: Route }) {
  if (x.leaders.length === 0) return <div class="page"><p>All cells are of one solution, one problem and one backend: there is nothing to rank.</p></div>
  const board = x.leaders.find(b => b.axis === route.params.get('by')) ?? x.leaders[0]
  const scored = board.rows.some(r => r.score), passing = board.rows.some(r => r.pass && r.ruled > 0)
  const of = (r: Leader) => scored && !passing ? r.score : r.pass
  const rows = [...board.rows].sort((a, b) => (of(b)?.value ?? -1) - (of(a)?.value ?? -1))
  const most = Math.max(100, ...rows.map(r => r.score?.high ?? r.score?.value ?? 0))
  const axis = ['solution', 'problem', 'backend'].includes(board.axis) ? board.axis : 'label.' + board.axis
  return (
    <div class="page">
      <section aria-labelledby="leaders">
        <h2 id="leaders">Cells by <select aria-label="Axis" value={board.axis} onChange={e => replace(link('leaderboard', '', { by: e.currentTarget.value }))}>
          {x.leaders.map(b => <option value={b.axis}>{b.axis}</option>)}
        </select></h2>
        <div class="scroll"><table class="leaders">
          <thead><tr>
            <th class="right">#</th><th>{board.axis}</th><th class="right">cells</th>{passing && <th class="right">solved</th>}<th class="right wide">no verdict</th>
            {passing && <><th class="right" title="the mean over problems of the share of attempts that are solved">pass %</th><th class="track wide" /></>}
            {scored && <><th class="right" title="the mean over problems of the mean score">score</th><th class="track wide" /></>}
          </tr></thead>
          <tbody>{rows.map((r, i) => (
            <tr>
              <td class="right dim">{i + 1}</td>
              <th scope="row">{r.name ? <a href={link('cells', '', { filter: term(axis, r.name) })}>{r.name}</a> : <span class="dim">(none)</span>}</th>
              <td class="right">{count(r.cells)}</td>
              {passing && <td class="right">{count(r.solved)}</td>}
              <td class="right wide">{r.unjudged ? count(r.unjudged) : <span class="dim">·</span>}</td>
              {passing && <Value of={r.pass} show={percent} scale={v => 100 * v} />}
              {scored && <Value of={r.score} show={score} scale={v => 100 * v / most} />}
            </tr>))}</tbody>
        </table></div>
        <p class="note">In brackets and as a bar: the interval that has the true value with 95 % confidence, over problems. Rows whose intervals overlap may differ by chance alone.</p>
      </section>
    </div>)
}

function Value({ of, show, scale }: { of?: Figure; show: (v: number) => string; scale: (v: number) => number }) {
  if (!of) return <><td class="right dim">·</td><td class="track wide" /></>
  const at = (v: number) => Math.max(0, Math.min(100, scale(v)))
  return (
    <>
      <td class="right">{show(of.value)}{of.low !== undefined && <span class="dim interval"> [{show(of.low)}, {show(of.high!)}]</span>}</td>
      <td class="track wide" aria-hidden="true"><div>
        {of.low !== undefined && <span class="whisker" style={{ left: `${at(of.low)}%`, width: `${at(of.high!) - at(of.low)}%` }} />}
        <span class="point" style={{ left: `${at(of.value)}%` }} />
      </div></td>
    </>)
}
