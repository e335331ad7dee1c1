// The language of selectors, as in graph/select.go; test/shared.ts compares both.

export interface Term { axis: string; pattern: string } // axis "" means addresses
export type Selector = Term[][] // a disjunction of conjunctions

const space = '[\\t\\n\\v\\f\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const around = new RegExp(`^${space}|${space}$`, 'g')

/** Parses selector arguments. Its errors are those of the command line. */
export function parse(args: string[], axes: string[]): Selector {
  return args.map(arg => splitTerms(arg).map(piece => {
    const text = piece.replace(around, '')
    if (text === '') throw new Error(`selector ${JSON.stringify(arg)} has an empty term`)
    const at = text.indexOf('=')
    const axis = text.slice(0, Math.max(at, 0))
    if (at < 0 || /[[:/*]/.test(axis)) return { axis: '', pattern: normalise(text) }
    if (!axes.includes(axis)) throw new Error(`selector ${JSON.stringify(arg)}: no axis ${JSON.stringify(axis)}; there are ${axes.join(', ')}`)
    return { axis, pattern: normalise(text.slice(at + 1)) }
  }))
}

/** Splits a line into arguments at spaces outside of quotes, like a shell. */
export function splitArguments(line: string): string[] {
  const args: string[] = []
  let arg = '', open = false, quote = ''
  for (const c of line) {
    if (quote ? c === quote : c === "'" || c === '"') {
      quote = quote ? '' : c
      open = true
      if (c === '"') arg += c // splitTerms needs the quotes of keys
    } else if (!quote && /\s/.test(c)) {
      if (open) args.push(arg)
      arg = ''
      open = false
    } else {
      arg += c
      open = true
    }
  }
  if (open) args.push(arg)
  return args
}

/** Splits at commas outside of quotes: instance keys can contain commas. */
function splitTerms(arg: string): string[] {
  const terms: string[] = []
  let quoted = false, start = 0
  for (let i = 0; i < arg.length; i++) {
    if (arg[i] === '"') quoted = !quoted
    else if (arg[i] === ',' && !quoted) { terms.push(arg.slice(start, i)); start = i + 1 }
  }
  return [...terms, arg.slice(start)]
}

/** Removes the quotes of instance keys, which shells tend to remove. */
export const normalise = (s: string) => s.replaceAll('"', '')

/** Returns a predicate for values of an axis. */
export function matchValue(pattern: string): (value: string) => boolean {
  const glob = matchGlob(pattern)
  return value => {
    value = normalise(value)
    return glob(value) || pattern === value.split('[', 1)[0]
  }
}

/** Returns a predicate for a glob in which * also matches separators; only * and ? are special. */
function matchGlob(pattern: string): (s: string) => boolean {
  if (!/[*?]/.test(pattern)) return s => s === pattern
  const source = pattern.replace(/[\\^$.+()[\]{}|/]/g, '\\$&').replace(/\*+/g, '.*').replaceAll('?', '.')
  const re = new RegExp(`^${source}$`, 'su')
  return s => s === pattern || re.test(s)
}

/** Escapes a name for addresses, as in plan/address.go. */
export function escape(name: string): string {
  if (!/[/%"]/.test(name)) return name
  let out = ''
  for (let i = 0; i < name.length; i++) {
    const key = /^\["(?:[^"\\\n]|\\.)*"\]/.exec(name.slice(i))
    if (key) {
      out += key[0]
      i += key[0].length - 1
    } else if ('/%"'.includes(name[i])) {
      out += '%' + name.charCodeAt(i).toString(16).toUpperCase()
    } else {
      out += name[i]
    }
  }
  return out
}
