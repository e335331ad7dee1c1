// The data of a report, as report/page writes it, and functions that load it.

export interface Column { values: string[]; at: number[] } // -1 means missing
export type Numbers = (number | null)[] | null

export interface Run {
  run: string; start?: string; selection?: string; seconds: number; executed: number; cached: number
  ended: boolean; exit: number; verdicts: string
}
export interface Cells {
  problem: Column; solution: Column; backend: Column; repeat: number[]; suites: Column; labels: Record<string, Column>
  outcome: Column; remark: Column; seconds: number[]; score: Numbers; share: Numbers; from: number[]
}
export interface Checkpoints {
  name: Column; outcome: Column; words: Column; note: Column; scope: Column; seconds: number[]; score: Numbers; passed: number[][]; total: number[][]
}
export interface Change {
  kind: string; name: string; cell: number; before?: string; after?: string; cause?: string; test?: string; said?: string
}
export interface Difference { before: string; after: string; same: number; changes: Change[] }
export interface Leader { name: string; mean: number | null; low?: number; high?: number; problems: number; attempts: number; missing: number; groups?: string; best?: (number | null)[] }
export interface Board { axis: string; metric: string; rows: Leader[]; at?: number[]; note?: string }
/** Problems from easy to hard, solutions from best to worst, and the share of each pair, row by row: null means that of its only cell. */
export interface Heat { problems: string[]; solutions: string[]; share: Numbers; missing: Record<number, number> }
export interface Concern { kind: string; text: string; checkpoints: number; cells: number[]; more?: number }
export interface Task {
  name: string; outcome: string; message?: string; cause?: string; seconds: number; run?: string; state?: string
  products?: { name: string; path: string; publish?: string; digest: string }[]
}
export interface Index {
  schema: number; project: string; version: string; live?: boolean; foreign?: boolean; notes?: string[]; runs: Run[]; cells: Cells; checkpoints: Checkpoints
  past: { outcome: Column; score: Numbers }[]; differences: Difference[]; leaders: Board[]; matrix: Heat; since: number; concerns: Concern[]
  tasks?: Task[]
  summary: { cells: number; checkpoints: number }; chunks: { id: string; first: number }[]; work?: string; figures: string; trees: { id: string; first: number }[]; grids: { id: string; first: number }[]; outcomes: string[]; groups: string[]
}

export interface Test {
  id: string; file: string; group: string; status: string; duration_ms: number; message: string | null; verdict?: string; ratio?: number; cpu_ms?: number; memory_bytes?: number
  excerpts?: Excerpt[] // set by withExcerpts
}
/** A line that a test's message refers to, with the lines around it. */
export interface Excerpt { path: string; tests?: boolean; at: number; first: number; lines: string[] }
export interface File { path: string; text?: string; note?: string }
/** The files of a submission. */
export interface Tree { files: File[]; more?: number }
export interface Checkpoint {
  name: string; passed: boolean; policy: string; class: string; message: string | null; score?: number; exit_code: number | null
  collected: number; duration_ms: number; isolation?: string; import?: string; groups: Record<string, { passed: number; total: number }>; tests: Test[]
  figures?: Record<string, number>
}
export interface Node {
  addr: string; kind: string; state: string; cause: string; changes?: { field: string; old?: string; new?: string; via?: string }[]
  files?: string[]; key?: string; fields?: [string, string][]; seconds: number; attempt: number; message?: string; log?: string
}
export interface Details {
  cell: { message: string | null; status: string; checkpoints: Checkpoint[]; recorded?: { by: string; score: number | null } }
  nodes: Node[]; more?: number
  trees?: number[] // by checkpoint: -1 means unknown, -2 omitted
  excerpts?: Excerpt[]; shown?: Record<number, Record<number, number[]>> // by checkpoint and test
}
export interface Work { addr: string[]; kind: Column; pool: Column; state: Column; start: number[]; seconds: number[] }

/** A mark of a drawing, as in report/draw. */
export interface Shape {
  k: 'rect' | 'line' | 'circle' | 'path' | 'text'; c?: string; x?: number; y?: number; w?: number; h?: number; r?: number
  d?: string; a?: string; s?: string; t?: boolean; o?: string
}
export interface Drawing { w: number; h: number; shapes: Shape[] | null }
export interface Figure {
  name: string; kind: string; axis?: string; metric?: string; title: string; note: string; columns: string[]; rows: string[][]; wide: Drawing; narrow: Drawing
}
/** A test by solutions: a letter for each. */
export interface GridTest { checkpoint: string; file: string; id: string; group: string; states: string; passed: number; judged: number; kind: string }
export interface Grid { solutions: string[]; tests: GridTest[] }
export interface Sheet { style: string; figures: Figure[] }

const pending = new Map<string, (data: string) => void>()
/** Scripts with data call this. */
;(window as unknown as Record<string, unknown>).fevalgraph = (id: string, data: string) => pending.get(id)?.(data)

/** Loads encoded data from the document or from a script next to it. */
function fetchData(id: string): Promise<string> {
  const inline = document.getElementById('data-' + id)
  if (inline) return Promise.resolve(inline.textContent!)
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    const directory = document.getElementById('app')!.dataset.directory!
    script.src = `${encodeURIComponent(directory)}/${id}.js`
    pending.set(id, resolve)
    const fail = (why: string) => () => {
      script.remove()
      pending.delete(id)
      reject(new Error(`${directory}/${id}.js ${why}`)) // no effect if the script has resolved it
    }
    script.onload = fail('is damaged')
    script.onerror = fail('not found: it must be next to this file')
    document.head.append(script)
  })
}

async function unpack<T>(id: string): Promise<T> {
  const letters = atob(await fetchData(id))
  const content = Uint8Array.from(letters, c => c.charCodeAt(0))
  return new Response(new Blob([content]).stream().pipeThrough(new DecompressionStream('gzip'))).json()
}

const cached = new Map<string, Promise<unknown>>()
const maxCached = 8

function load<T>(id: string): Promise<T> {
  const data = cached.get(id) ?? unpack<T>(id)
  cached.delete(id)
  cached.set(id, data)
  data.catch(() => cached.delete(id)) // a later attempt can succeed
  if (cached.size > maxCached) cached.delete(cached.keys().next().value!)
  return data as Promise<T>
}

export const readIndex = () => unpack<Index>('index')
export const readSheet = (x: Index) => load<Sheet>(x.figures)
export const readWork = (x: Index) => load<Work>(x.work!)

async function readPart<T>(chunks: { id: string; first: number }[], at: number): Promise<T> {
  const after = chunks.findIndex(c => c.first > at)
  const chunk = chunks.at(after < 0 ? -1 : after - 1)!
  return (await load<T[]>(chunk.id))[at - chunk.first]
}

export const readDetails = (x: Index, cell: number) => readPart<Details>(x.chunks, cell)
/** Loads the submission at an index of Details.trees; undefined if the page lacks it. */
export const readTree = (x: Index, at = -1): Promise<Tree | undefined> => at < 0 ? Promise.resolve(undefined) : readPart<Tree>(x.trees, at)
export const readGrid = (x: Index, problem: number) => readPart<Grid>(x.grids, problem)
