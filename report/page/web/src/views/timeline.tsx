// Work over time, by slot of its pool.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { readWork, type Index, type Work } from '../data'
import { Mark } from '../marks'
import { count, counted, duration } from '../text'

const listed = 40, bar = 16, gap = 22

interface Lane { title: string; first: boolean; bars: number[]; busy: number }

/** Returns the slots by pool: the fewest lanes without overlapping bars. */
function lanesOf(w: Work): Lane[] {
  const pools = new Map<number, { ends: number[]; lanes: Lane[] }>()
  for (let i = 0; i < w.start.length; i++) {
    const pool = pools.get(w.pool.at[i]) ?? { ends: [], lanes: [] }
    pools.set(w.pool.at[i], pool)
    let lane = pool.ends.findIndex(end => end <= w.start[i] + 0.0005)
    if (lane < 0) {
      lane = pool.ends.length
      pool.lanes.push({ title: `${w.pool.values[w.pool.at[i]]} ${lane + 1}`, first: lane === 0, bars: [], busy: 0 })
    }
    pool.ends[lane] = w.start[i] + w.seconds[i]
    pool.lanes[lane].bars.push(i)
    pool.lanes[lane].busy += w.seconds[i]
  }
  return [...pools.values()].flatMap(p => p.lanes)
}

export function Timeline({ x }: { x: Index }) {
  const [work, setWork] = useState<Work | Error>()
  useEffect(() => {
    if (x.work) readWork(x).then(setWork, setWork)
  }, [x])
  if (!x.work) return <div class="page"><p>This run executed no node, or an earlier version of fevalgraph recorded it.</p></div>
  if (!work) return <div class="page"><p class="note" role="status">Reading…</p></div>
  if (work instanceof Error) return <div class="page"><p class="wrong" role="alert">{work.message}</p></div>
  return <Drawn w={work} />
}

function Drawn({ w }: { w: Work }) {
  const lanes = useMemo(() => lanesOf(w), [w])
  const total = useMemo(() => w.start.reduce((end, s, i) => Math.max(end, s + w.seconds[i]), 0.001), [w])
  const [range, setRange] = useState<[number, number]>([0, total])
  const [hover, setHover] = useState(-1)
  const canvas = useRef<HTMLCanvasElement>(null)
  const titles = 128

  const zoom = (factor: number, at = 0.5) => setRange(([from, to]) => {
    const length = Math.min(total, Math.max(0.01, (to - from) * factor))
    const start = Math.max(0, Math.min(total - length, from + (to - from) * at - length * at))
    return [start, start + length]
  })
  const pan = (share: number) => setRange(([from, to]) => {
    const start = Math.max(0, Math.min(total - (to - from), from + (to - from) * share))
    return [start, start + to - from]
  })
  const key = (e: KeyboardEvent) => {
    const does: Record<string, () => void> = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), '0': () => setRange([0, total]) }
    if (!does[e.key] || e.ctrlKey || e.metaKey) return
    does[e.key]()
    e.preventDefault()
    e.stopPropagation()
  }
  useLayoutEffect(() => {
    const draw = () => canvas.current && paint(canvas.current, w, lanes, range, total, titles, hover)
    draw()
    const observer = new ResizeObserver(draw)
    observer.observe(canvas.current!.parentElement!)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', draw)
    const theme = new MutationObserver(draw)
    theme.observe(document.documentElement, { attributes: true })
    return () => { observer.disconnect(); theme.disconnect(); dark.removeEventListener('change', draw) }
  }, [w, lanes, range, hover])
  useEffect(() => {
    const wheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.shiftKey) return // the page scrolls
      e.preventDefault()
      zoom(e.deltaY + e.deltaX > 0 ? 1.25 : 0.8, Math.max(0, (e.offsetX - titles) / (canvas.current!.clientWidth - titles)))
    }
    canvas.current!.addEventListener('wheel', wheel, { passive: false })
    return () => canvas.current?.removeEventListener('wheel', wheel)
  }, [total])
  const at = (e: MouseEvent) => {
    const lane = lanes[Math.floor((e.offsetY - gap) / gap)]
    const time = range[0] + (e.offsetX - titles) / (canvas.current!.clientWidth - titles) * (range[1] - range[0])
    setHover(lane?.bars.find(i => w.start[i] <= time && time <= w.start[i] + Math.max(w.seconds[i], (range[1] - range[0]) / 400)) ?? -1)
  }
  const longest = useMemo(() => w.seconds.map((_, i) => i).sort((a, b) => w.seconds[b] - w.seconds[a]).slice(0, listed), [w])
  return (
    <div class="page">
      <section aria-labelledby="timeline">
        <h2 id="timeline">{counted(w.start.length, 'attempt')} in {duration(total)}, in {counted(lanes.length, 'slot')}</h2>
        <p class="tools">
          <button onClick={() => zoom(0.5)} aria-label="Zoom in">+</button> <button onClick={() => zoom(2)} aria-label="Zoom out">−</button>{' '}
          <button onClick={() => pan(-0.5)} aria-label="Earlier">←</button> <button onClick={() => pan(0.5)} aria-label="Later">→</button>{' '}
          <button onClick={() => setRange([0, total])}>All</button>{' '}
          <span class="dim">{duration(range[0])} to {duration(range[1])}</span>
        </p>
        <div class="timeline" tabIndex={0} onKeyDown={key} role="img" aria-label={`Timeline of ${count(lanes.length)} slots; the longest attempts are in the table below. Plus, minus and arrows zoom and move.`}>
          <canvas ref={canvas} onMouseMove={at} onMouseLeave={() => setHover(-1)} />
        </div>
        <p class="hover">{hover < 0 ? <span class="dim">Point at a bar for details. Shift and the wheel zoom.</span>
          : <><Mark of={w.state.values[w.state.at[hover]]} /> {w.addr[hover]} <span class="dim">{w.state.values[w.state.at[hover]]}, {duration(w.seconds[hover])} from {duration(w.start[hover])} on</span></>}</p>
      </section>
      <section aria-labelledby="longest">
        <h2 id="longest">The longest</h2>
        <div class="scroll"><table>
          <thead><tr><th>state</th><th>node</th><th class="right">took</th><th class="right">from</th><th class="wide">pool</th></tr></thead>
          <tbody>{longest.map(i => (
            <tr onMouseEnter={() => setHover(i)}>
              <td><Mark of={w.state.values[w.state.at[i]]} /></td><td class="said">{w.addr[i]}</td>
              <td class="right">{duration(w.seconds[i])}</td><td class="right">{duration(w.start[i])}</td><td class="wide">{w.pool.values[w.pool.at[i]]}</td>
            </tr>))}</tbody>
        </table></div>
      </section>
    </div>)
}

/** Returns the distance of ticks: at most eight are shown. */
function tick(length: number): number {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]
  return steps.find(step => length / step <= 8) ?? 3600 * Math.ceil(length / 8 / 3600)
}

function paint(canvas: HTMLCanvasElement, w: Work, lanes: Lane[], [from, to]: [number, number], total: number, titles: number, hover: number) {
  const width = canvas.parentElement!.clientWidth, height = gap * (lanes.length + 1) + 4, dense = devicePixelRatio
  canvas.width = width * dense
  canvas.height = height * dense
  canvas.style.width = width + 'px'
  canvas.style.height = height + 'px'
  const g = canvas.getContext('2d')!
  g.scale(dense, dense)
  const probe = document.createElement('span')
  canvas.parentElement!.append(probe)
  const color = (name: string) => { probe.className = name; return getComputedStyle(probe).color }
  const [text, dim, line] = [color(''), color('dim'), color('rule')]
  const tones = w.state.values.map(s => color('o-' + s))
  const kinds = w.kind.values.length
  probe.remove()

  const place = (t: number) => titles + (t - from) / (to - from) * (width - titles)
  g.font = '12px system-ui, sans-serif'
  g.textBaseline = 'middle'
  for (let t = Math.ceil(from / tick(to - from)) * tick(to - from); t <= to; t += tick(to - from)) {
    g.fillStyle = line
    g.fillRect(place(t), gap - 4, 1, height)
    g.fillStyle = dim
    if (place(t) < width - 40) g.fillText(duration(Math.round(t * 1000) / 1000), place(t) + 3, gap / 2)
  }
  lanes.forEach((lane, n) => {
    const y = gap * (n + 1)
    g.fillStyle = line
    if (lane.first) g.fillRect(0, y - 2, width, 1)
    g.fillStyle = dim
    g.fillText(lane.title, 6, y + bar / 2, titles - 52)
    g.textAlign = 'right'
    g.fillText(`${Math.round(100 * lane.busy / total)} %`, titles - 8, y + bar / 2)
    g.textAlign = 'left'
    let drawn = -1
    for (const i of lane.bars) {
      const x1 = Math.max(titles, place(w.start[i])), x2 = Math.min(width, place(w.start[i] + w.seconds[i]))
      if (x2 < titles || x1 > width || x2 - drawn < 0.4) continue
      drawn = Math.max(x1 + 1, x2)
      g.globalAlpha = i === hover ? 1 : 0.45 + 0.4 * (w.kind.at[i] + 1) / kinds
      g.fillStyle = i === hover ? text : tones[w.state.at[i]]
      g.fillRect(x1, y, Math.max(1, x2 - x1 - 0.5), bar)
      g.globalAlpha = 1
    }
  })
}
