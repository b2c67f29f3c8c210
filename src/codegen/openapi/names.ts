/** Functions that form the names in generated code. */

/** Converts to PascalCase: `createToken` → `CreateToken`, `Audit log` → `AuditLog`. */
export function pascal(name: string): string {
  return words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Converts to camelCase: `Audit log` → `auditLog`. */
export function camel(name: string): string {
  const text = pascal(name);
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Converts to kebab-case: `Audit log` → `audit-log`. */
export function kebab(name: string): string {
  return words(name.replace(/([a-z0-9])([A-Z])/g, '$1 $2'))
    .join('-')
    .toLowerCase();
}

function words(name: string): string[] {
  return name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
}

export const inputName = (typeName: string): string => `${typeName}Input`;
export const outputName = (typeName: string): string => `${typeName}Output`;
export const handlersName = (name: string): string => `${pascal(name)}Handlers`;

/** Returns the name of a property in TypeScript syntax, quoted if necessary. */
export function toKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toStringLiteral(name);
}

/** Returns a text as a string literal in single quotes. */
export function toStringLiteral(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Returns a doc comment with the text, which may contain anything; an empty string for a blank text. */
export function docstring(text: string, indent = ''): string {
  const lines = text.trim().replaceAll('*/', '* /').split('\n');
  if (text.trim() === '') return '';
  if (lines.length === 1) return `${indent}/** ${lines[0] ?? ''} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
