// Formats untrusted text and quantities for display.

/** Invisible characters with an effect: controls except line ends and tabs, and format characters such as overrides of the writing direction. */
const invisible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029]|(?!\u200d)\p{Cf}/gu

/** Escapes these characters visibly. */
export function visible(s: string): string {
  return s.replace(/\r\n/g, '\n').replace(/\r/g, '\\r').replace(invisible, c => {
    const code = c.codePointAt(0)!
    if (code < 0x80) return '\\x' + code.toString(16).padStart(2, '0')
    return code < 0x10000 ? '\\u' + code.toString(16).padStart(4, '0') : '\\U' + code.toString(16).padStart(8, '0')
  })
}

export function duration(seconds: number): string {
  if (!(seconds >= 0 && seconds < Infinity)) return '?'
  if (seconds === 0) return '0s'
  if (seconds < 0.0995) return Math.ceil(seconds * 1000) + 'ms'
  if (seconds < 59.95) return seconds.toFixed(1) + 's'
  const whole = Math.round(seconds)
  if (whole < 3600) return Math.floor(whole / 60) + 'm' + String(whole % 60).padStart(2, '0') + 's'
  const minutes = Math.round(whole / 60)
  return Math.floor(minutes / 60) + 'h' + String(minutes % 60).padStart(2, '0') + 'm'
}

export function bytes(n: number): string {
  if (n < 1024) return n + ' B'
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = n / 1024, i = 0
  for (; value >= 1023.95 && i < units.length - 1; i++) value /= 1024
  return value.toFixed(1) + ' ' + units[i]
}

const whole = new Intl.NumberFormat('en-US')
export const count = (n: number) => whole.format(n)
export const counted = (n: number, noun: string) => count(n) + ' ' + noun + (n === 1 ? '' : 's')
export const score = (n: number) => String(Math.abs(n) >= 1e9 ? Number(n.toPrecision(4)) : Math.round(n * 1e4) / 1e4)
/** Formats a change of a number with as few digits as distinguish both values. */
export function moved(before = '', after = ''): string {
  for (let digits = 4; ; digits++) {
    const [b, a] = [before, after].map(s => s.replace(/\d+\.\d+(e[+-]?\d+)?/g, n => String(Number(Number(n).toPrecision(digits)))))
    if (b !== a || before === after || digits > 16) return [b, a].filter(Boolean).join(' → ')
  }
}
export const percent = (n: number) => (100 * n).toFixed(1)

/** Formats a time as "2026-01-02 03:04:05 UTC". */
export const moment = (rfc3339: string) => rfc3339.replace('T', ' ').replace('Z', ' UTC')
