import { term } from '../cells'
import type { Board, Index, Leader } from '../data'
import { Plot, useSheet } from '../figure'
import { link, replace, type Route } from '../route'
import { count, percent, score } from '../text'

export const metrics: Record<string, string> = { solved: 'solved cells, %', checkpoints: 'passed checkpoints, %', score: 'score', unbounded: 'score without a bound' }

const isScore = (metric: string) => metric === 'score' || metric === 'unbounded'

/** The number format of a board: as many digits as distinguish its figures, as in report/text. */
export function shown(board: Board): (v: number) => string {
  if (!isScore(board.metric)) return percent
  const means = board.rows.map(r => r.mean ?? 0), size = Math.max(...means.map(Math.abs)), spread = Math.max(...means) - Math.min(...means)
  const digits = Math.max(1, ...[size / 10, spread].filter(v => v > 0).map(v => Math.min(6, 1 - Math.floor(Math.log10(v)))))
  return v => Math.abs(v) >= 1e9 ? score(v) : v.toFixed(digits)
}

export const axisTerm = (axis: string, name: string) => term(['solution', 'problem', 'backend'].includes(axis) ? axis : 'label.' + axis, name)

export function Leaders({ x, route }: { x: Index; route: Route }) {
  const sheet = useSheet(x)
  if (x.leaders.length === 0) return <div class="page"><p>All cells have the same solution, problem and backend, so there is no ranking.</p></div>
  const by = route.params.get('by') ?? x.leaders[0].axis, metric = route.params.get('metric')
  const ofAxis = x.leaders.filter(b => b.axis === by)
  const board = ofAxis.find(b => b.metric === metric) ?? ofAxis[0] ?? x.leaders[0]
  const show = shown(board)
  const grouped = board.rows.some(r => r.groups), missing = board.rows.some(r => r.missing > 0), bounded = board.rows.some(r => r.low !== undefined)
  const to = (change: Record<string, string>) => replace(link('leaderboard', '', { by: board.axis, metric: board.metric, ...change }))
  const figures = sheet && !(sheet instanceof Error) ? sheet.figures.filter(f => f.axis === board.axis && f.metric === board.metric && f.kind === 'pairs') : []
  const best = board.metric === 'score' ? 'best of' : 'pass@'
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
            <th>{board.axis}</th><th class="right">mean</th>{bounded && <th class="right">95 % interval</th>}<th class="track wide">{bounded ? 'mean and interval' : 'mean'}</th>
            {board.at?.slice(1).map(k => <th class="right" title={`expected value of the best of ${k} attempts`}>{best}{best === 'pass@' ? k : ' ' + k}</th>)}
            <th class="right wide">problems</th><th class="right wide">cells</th>{missing && <th class="right">no verdict</th>}
          </tr></thead>
          <tbody>{board.rows.map(r => (
            <tr>
              {grouped && <td>{r.groups}</td>}
              <th scope="row"><a href={link('cells', '', { filter: axisTerm(board.axis, r.name) })}>{r.name}</a></th>
              <td class="right">{r.mean === null ? '·' : show(r.mean)}</td>
              {bounded && <td class="right dim">{r.low === undefined ? '·' : `${show(r.low)} to ${show(r.high!)}`}</td>}
              <td class="track wide" aria-hidden="true"><Track r={r} board={board} /></td>
              {board.at?.slice(1).map((_, i) => <td class="right">{r.best?.[i + 1] == null ? '·' : show(r.best[i + 1]!)}</td>)}
              <td class="right wide">{count(r.problems)}</td><td class="right wide">{count(r.attempts)}</td>
              {missing && <td class="right">{r.missing ? count(r.missing) : <span class="dim">·</span>}</td>}
            </tr>))}</tbody>
        </table></div>
        <p class="note">
          Means are over problems, of the mean over backends of the cells at each.
          {bounded && ' Intervals are over problems: Wilson’s of shares, else of a bootstrap (BCa).'}
          {grouped && ' Rows that have a letter in common are not shown to differ: pairs are compared problem by problem, and their p is corrected for all pairs.'}
          {board.note && ` ${board.note[0].toUpperCase()}${board.note.slice(1)}.`}
        </p>
      </section>
      {figures.map(f => <Plot key={f.name} f={f} style={(sheet as { style: string }).style} />)}
    </div>)
}

// Returns the ends of a scale that contains every figure of a board.
function ends(board: Board) {
  if (board.metric !== 'unbounded') return { worst: 0, best: isScore(board.metric) ? 100 : 1 }
  const all = board.rows.flatMap(r => [r.mean ?? 0, r.low ?? 0, r.high ?? 0])
  return { worst: Math.min(0, ...all), best: Math.max(0, ...all) || 1 }
}

export function Track({ r, board }: { r: Leader; board: Board }) {
  if (r.mean === null) return null
  const { worst, best } = ends(board)
  const at = (v: number) => Math.max(0, Math.min(100, 100 * (v - worst) / (best - worst)))
  return (
    <div class="bars">
      {r.low !== undefined && <span class="whisker" style={{ left: `${at(r.low)}%`, width: `${at(r.high!) - at(r.low)}%` }} />}
      <span class="point" style={{ left: `${at(r.mean)}%` }} />
    </div>)
}
