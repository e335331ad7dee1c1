import { term } from '../cells'
import type { Index, Leader } from '../data'
import { link, replace, type Route } from '../route'
import { count, percent, score } from '../text'

const metrics: Record<string, string> = { solved: 'solved cells, %', checkpoints: 'passed checkpoints, %', score: 'score', unbounded: 'score without a bound' }

export function Leaders({ x, route }: { x: Index; route: Route }) {
  if (x.leaders.length === 0) return <div class="page"><p>All cells are of one solution, one problem and one backend: there is nothing to rank.</p></div>
  const by = route.params.get('by') ?? x.leaders[0].axis, metric = route.params.get('metric')
  const ofAxis = x.leaders.filter(b => b.axis === by)
  const board = ofAxis.find(b => b.metric === metric) ?? ofAxis[0] ?? x.leaders[0]
  const axis = ['solution', 'problem', 'backend'].includes(board.axis) ? board.axis : 'label.' + board.axis
  const scored = board.metric === 'score' || board.metric === 'unbounded', show = scored ? score : percent
  const ends = board.metric === 'unbounded' ? range(board.rows) : { worst: 0, best: scored ? 100 : 1 }
  const grouped = board.rows.some(r => r.groups), missing = board.rows.some(r => r.missing > 0), bounded = board.rows.some(r => r.low !== undefined)
  const to = (change: Record<string, string>) => replace(link('leaderboard', '', { by: board.axis, metric: board.metric, ...change }))
  return (
    <div class="page">
      <section aria-labelledby="leaders">
        <h2 id="leaders">
          <select aria-label="Axis" value={board.axis} onChange={e => to({ by: e.currentTarget.value })}>
            {[...new Set(x.leaders.map(b => b.axis))].map(a => <option value={a}>{a}</option>)}
          </select>
          {' by '}
          <select aria-label="Metric" value={board.metric} onChange={e => to({ metric: e.currentTarget.value })}>
            {ofAxis.map(b => <option value={b.metric}>{metrics[b.metric]}</option>)}
          </select>
        </h2>
        <div class="scroll"><table class="leaders">
          <thead><tr>
            {grouped && <th title="rows without a letter in common are shown to differ">group</th>}
            <th>{board.axis}</th><th class="right">mean</th>{bounded && <th class="right">95 % interval</th>}<th class="track wide" />
            <th class="right wide">problems</th><th class="right">cells</th>{missing && <th class="right">no verdict</th>}
          </tr></thead>
          <tbody>{board.rows.map(r => (
            <tr>
              {grouped && <td>{r.groups}</td>}
              <th scope="row"><a href={link('cells', '', { filter: term(axis, r.name) })}>{r.name}</a></th>
              <td class="right">{r.mean === null ? '·' : show(r.mean)}</td>
              {bounded && <td class="right dim">{r.low === undefined ? '·' : `${show(r.low)} to ${show(r.high!)}`}</td>}
              <td class="track wide" aria-hidden="true">{r.mean !== null && <Track r={r} mean={r.mean} {...ends} />}</td>
              <td class="right wide">{count(r.problems)}</td><td class="right">{count(r.attempts)}</td>
              {missing && <td class="right">{r.missing ? count(r.missing) : <span class="dim">·</span>}</td>}
            </tr>))}</tbody>
        </table></div>
        <p class="note">
          Means are over problems, of the mean over backends of the cells at each.
          {bounded && ' Intervals are over problems: Wilson’s of shares, else of a bootstrap (BCa).'}
          {grouped && ' Rows that have a letter in common are not shown to differ: pairs are compared problem by problem, and their p is corrected for all pairs.'}
        </p>
      </section>
    </div>)
}

// range returns the ends of a scale that has every figure of the rows, and 0.
function range(rows: Leader[]) {
  const all = rows.flatMap(r => [r.mean ?? 0, r.low ?? 0, r.high ?? 0])
  return { worst: Math.min(0, ...all), best: Math.max(0, ...all) || 1 }
}

function Track({ r, mean, worst, best }: { r: Leader; mean: number; worst: number; best: number }) {
  const at = (v: number) => Math.max(0, Math.min(100, 100 * (v - worst) / (best - worst)))
  return (
    <div>
      {r.low !== undefined && <span class="whisker" style={{ left: `${at(r.low)}%`, width: `${at(r.high!) - at(r.low)}%` }} />}
      <span class="point" style={{ left: `${at(mean)}%` }} />
    </div>)
}
