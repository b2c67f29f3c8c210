/** Longer literals are split into lines, so that the diff of a changed field is small. */
const MAX_WIDTH = 180;

/** Prints plain data as a TypeScript expression. */
export function printLiteral(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const items = (deeper: string): string[] =>
    Array.isArray(value)
      ? value.map((item) => printLiteral(item, deeper))
      : Object.entries(value).map(([key, item]) => `${printKey(key)}: ${printLiteral(item, deeper)}`);
  const broken = items(inner);
  const pad = Array.isArray(value) || broken.length === 0 ? '' : ' ';
  const line = `${open}${pad}${broken.join(', ')}${pad}${close}`;
  if (!line.includes('\n') && indent.length + line.length <= MAX_WIDTH) return line;
  return `${open}\n${broken.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}

/** Prints the name of a property, in quotes if necessary. */
export const printKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : printLiteral(name));
