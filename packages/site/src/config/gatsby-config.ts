import path from 'node:path';
import type { Expression, File, Node, ObjectExpression, Statement, TemplateLiteral } from '@babel/types';
import { parse } from './parser.js';
import type { SiteConfigInput } from './site-config.js';

/** The values of a `gatsby-config` that can be read without running it, and warnings about the others. */
export interface StaticConfig {
  readonly written: SiteConfigInput;
  /** One sentence each, for the terminal. */
  readonly warnings: readonly string[];
}

type Values = Readonly<Record<string, StaticValue>>;

const SOURCE_PLUGIN = 'gatsby-source-filesystem';

/**
 * Reads a `gatsby-config` as data: metadata, path prefix and plugins; each `gatsby-source-filesystem` is also a source.
 *
 * @param name The file's name, for the warnings.
 * @throws SyntaxError from the parser when the file is not JavaScript or TypeScript.
 */
export function readGatsbyConfig(code: string, name: string, directory: string): StaticConfig {
  const value = readExportedValue(parseModule(code), directory);
  const warnings: string[] = [];
  if (!isValues(value)) {
    return { written: {}, warnings: [`${name}: its export can't be read without running it; the file is ignored.`] };
  }
  const plugins = readPlugins(value.plugins, name, warnings);
  const written: SiteConfigInput = {
    siteMetadata: readMetadata(value.siteMetadata, name, warnings),
    plugins,
    sources: readSources(plugins, name, warnings),
    ...readStrings(value, ['host']),
  };
  const { pathPrefix } = readStrings(value, ['pathPrefix']);
  // Gatsby adds the leading slash too.
  if (pathPrefix !== undefined) written.pathPrefix = pathPrefix.replace(/^\/?/, '/');
  if (typeof value.polyfill === 'boolean') written.polyfill = value.polyfill;
  if (typeof value.port === 'number' || typeof value.port === 'string') written.port = value.port;
  return { written, warnings };
}

/** The metadata that are text in every site. */
const TEXTS = ['title', 'description', 'author'] as const;

function readMetadata(value: StaticValue | undefined, name: string, warnings: string[]) {
  if (value === undefined) return {};
  const ignored = isValues(value)
    ? Object.keys(value).filter((key) => value[key] === UNREADABLE || (isText(key) && typeof value[key] !== 'string'))
    : [];
  if (!isValues(value)) warnings.push(`${name}: siteMetadata is not a literal; it is ignored.`);
  for (const key of ignored) {
    const expected = isText(key) ? 'text in quotes' : 'a literal';
    warnings.push(`${name}: siteMetadata.${key} is not ${expected}; it is ignored.`);
  }
  const others = Object.entries(readOptions(value)).filter(([key]) => !isText(key) && !ignored.includes(key));
  return { ...Object.fromEntries(others), ...readStrings(value, TEXTS) };
}

const isText = (key: string): boolean => TEXTS.some((text) => text === key);

function readPlugins(value: StaticValue | undefined, name: string, warnings: string[]) {
  if (value !== undefined && !Array.isArray(value)) {
    warnings.push(`${name}: plugins is not a literal; it is ignored, with the sources in it.`);
  }
  const plugins: { resolve: string; options: Record<string, unknown> }[] = [];
  for (const [index, item] of (Array.isArray(value) ? (value as readonly StaticValue[]) : []).entries()) {
    if (typeof item === 'string') plugins.push({ resolve: item, options: {} });
    else if (isValues(item) && typeof item.resolve === 'string') {
      plugins.push({ resolve: item.resolve, options: readOptions(item.options) });
    } else warnings.push(`${name}: plugins[${index}] is not a literal; it is ignored.`);
  }
  return plugins;
}

/** In Gatsby, several sources may share a name or a folder; here, a file is one record of the first of them. */
function readSources(plugins: ReturnType<typeof readPlugins>, name: string, warnings: string[]) {
  const sources = plugins.flatMap(({ resolve, options }, index) =>
    resolve === SOURCE_PLUGIN ? readSource(options, `${name}: plugins[${index}]`, warnings) : [],
  );
  return sources.filter((source, index) => {
    const first = sources.findIndex(({ path: folder }) => folder === source.path);
    if (first !== index) warnings.push(`${name}: two sources read ${source.path}; the second one is ignored.`);
    return first === index;
  });
}

function readSource(options: Record<string, unknown>, at: string, warnings: string[]) {
  const { name, path: folder, ignore } = options;
  if (typeof folder !== 'string') {
    warnings.push(`${at}: the source's path is not a literal; the source is ignored.`);
    return [];
  }
  const globs = Array.isArray(ignore) ? ignore.filter((glob) => typeof glob === 'string') : [];
  return [{ name: typeof name === 'string' ? name : '__PROGRAMMATIC__', path: folder, ignore: globs }];
}

function readOptions(value: StaticValue | undefined): Record<string, unknown> {
  return isValues(value) ? (withoutUnreadable(value) as Record<string, unknown>) : {};
}

function withoutUnreadable(value: StaticValue): unknown {
  if (Array.isArray(value))
    return (value as readonly StaticValue[]).filter((item) => item !== UNREADABLE).map(withoutUnreadable);
  if (!isValues(value)) return value;
  const known = Object.entries(value).filter(([, item]) => item !== UNREADABLE);
  return Object.fromEntries(known.map(([key, item]) => [key, withoutUnreadable(item)]));
}

function readStrings<Name extends string>(value: StaticValue | undefined, names: readonly Name[]) {
  const strings: Partial<Record<Name, string>> = {};
  if (!isValues(value)) return strings;
  for (const name of names) {
    const item = value[name];
    if (typeof item === 'string' && item !== '') strings[name] = item;
  }
  return strings;
}

function isValues(value: StaticValue | undefined): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Marks a part whose value depends on running the file. */
const UNREADABLE = Symbol('unreadable');

type StaticValue =
  | boolean
  | number
  | string
  | null
  | typeof UNREADABLE
  | readonly StaticValue[]
  | { readonly [key: string]: StaticValue };

/**
 * Parses a JavaScript or TypeScript module without running it.
 *
 * @throws SyntaxError from the parser.
 */
function parseModule(code: string): File {
  return parse(code, {
    sourceType: 'unambiguous',
    allowReturnOutsideFunction: true,
    errorRecovery: true,
    plugins: ['typescript', 'jsx', 'decorators'],
  });
}

/**
 * Returns the value that a module exports by `module.exports = …` or `export default …`, as far as it consists of
 * literals, lists, objects, constants, `__dirname`, `path.join`, and the fallback of an environment variable.
 *
 * @param directory The value of `__dirname`.
 */
function readExportedValue(file: File, directory: string): StaticValue {
  const constants = new Map<string, Expression>();
  let exported: Node | undefined;
  for (const statement of file.program.body) {
    collectConstants(statement, constants);
    exported = findExport(statement) ?? exported;
  }
  return exported === undefined ? UNREADABLE : read(exported, { constants, directory, depth: 0 });
}

interface Scope {
  readonly constants: ReadonlyMap<string, Expression>;
  readonly directory: string;
  readonly depth: number;
}

/** Deeper than any hand-written configuration. The limit stops constants that refer to each other. */
const MAX_DEPTH = 40;

function collectConstants(statement: Statement, constants: Map<string, Expression>): void {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return;
  for (const { id, init } of statement.declarations) {
    if (id.type === 'Identifier' && init) constants.set(id.name, init);
  }
}

function findExport(statement: Statement): Node | undefined {
  if (statement.type === 'ExportDefaultDeclaration') return statement.declaration;
  if (statement.type !== 'ExpressionStatement' || statement.expression.type !== 'AssignmentExpression')
    return undefined;
  const { left, right } = statement.expression;
  return isModuleExports(left) ? right : undefined;
}

function isModuleExports(node: Node): boolean {
  return (
    node.type === 'MemberExpression' &&
    node.object.type === 'Identifier' &&
    node.object.name === 'module' &&
    node.property.type === 'Identifier' &&
    node.property.name === 'exports'
  );
}

function read(node: Node, scope: Scope): StaticValue {
  if (scope.depth > MAX_DEPTH) return UNREADABLE;
  const inner = { ...scope, depth: scope.depth + 1 };
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return node.value;
    case 'NullLiteral':
      return null;
    case 'TemplateLiteral':
      return readTemplate(node, inner);
    case 'ArrayExpression':
      return node.elements.map((element) => (element ? read(element, inner) : null));
    case 'ObjectExpression':
      return readObject(node, inner);
    case 'Identifier':
      return readIdentifier(node.name, inner);
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
      return read(node.expression, inner);
    case 'LogicalExpression':
      return readFallback(read(node.left, inner), () => read(node.right, inner), node.operator);
    case 'BinaryExpression':
      return node.operator === '+' ? join([read(node.left, inner), read(node.right, inner)]) : UNREADABLE;
    case 'CallExpression':
      return readCall(node.callee, node.arguments, inner);
    default:
      return UNREADABLE;
  }
}

function readIdentifier(name: string, scope: Scope): StaticValue {
  if (name === '__dirname') return scope.directory;
  const value = scope.constants.get(name);
  return value === undefined ? UNREADABLE : read(value, scope);
}

function readTemplate(node: TemplateLiteral, scope: Scope): StaticValue {
  const parts: StaticValue[] = [];
  for (const [index, { value }] of node.quasis.entries()) {
    parts.push(value.cooked ?? '');
    const expression = node.expressions[index];
    if (expression) parts.push(read(expression, scope));
  }
  return join(parts);
}

function join(parts: readonly StaticValue[]): StaticValue {
  return parts.every((part) => typeof part === 'string' || typeof part === 'number') ? parts.join('') : UNREADABLE;
}

function readFallback(left: StaticValue, right: () => StaticValue, operator: string): StaticValue {
  if (operator === '&&') return UNREADABLE;
  return left === UNREADABLE || left === null || left === '' ? right() : left;
}

function readObject(node: ObjectExpression, scope: Scope): StaticValue {
  const entries: [string, StaticValue][] = [];
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') {
      const spread = read(property.argument, scope);
      if (typeof spread === 'object' && spread !== null && !Array.isArray(spread))
        entries.push(...Object.entries(spread));
    } else if (property.type === 'ObjectProperty' && !property.computed) {
      const name =
        property.key.type === 'Identifier'
          ? property.key.name
          : property.key.type === 'StringLiteral'
            ? property.key.value
            : undefined;
      if (name !== undefined) entries.push([name, read(property.value, scope)]);
    }
  }
  return Object.fromEntries(entries);
}

/** `path.join(…)`, `path.resolve(…)`, `require.resolve('…')` and `[…].filter(Boolean)`. */
function readCall(callee: Node, args: readonly Node[], scope: Scope): StaticValue {
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return UNREADABLE;
  const [first] = args;
  if (callee.property.name === 'filter' && first?.type === 'Identifier' && first.name === 'Boolean') {
    const list = read(callee.object, scope);
    return Array.isArray(list) ? (list as readonly StaticValue[]).filter(Boolean) : UNREADABLE;
  }
  if (callee.object.type !== 'Identifier') return UNREADABLE;
  const values = args.map((argument) => read(argument, scope));
  if (!values.every((value) => typeof value === 'string')) return UNREADABLE;
  const name = `${callee.object.name}.${callee.property.name}`;
  if (name === 'path.join') return path.join(...values);
  if (name === 'path.resolve') return path.resolve(scope.directory, ...values);
  return name === 'require.resolve' ? (values[0] ?? UNREADABLE) : UNREADABLE;
}

/**
 * Returns the names that a module exports, in the order of its text, without running it.
 *
 * @throws SyntaxError from the parser.
 */
export function listExports(code: string): string[] {
  return [...new Set(parseModule(code).program.body.flatMap(exportsOf))];
}

function exportsOf(statement: Statement): string[] {
  switch (statement.type) {
    case 'ExportNamedDeclaration': {
      const { declaration, specifiers } = statement;
      return [
        ...(declaration ? declaredNames(declaration) : []),
        ...specifiers.map(({ exported }) => nameOf(exported)),
      ];
    }
    case 'ExpressionStatement':
      return assignedNames(statement.expression);
    default:
      return [];
  }
}

function declaredNames(declaration: Node): string[] {
  if (declaration.type === 'VariableDeclaration') return declaration.declarations.map(({ id }) => nameOf(id));
  return 'id' in declaration && declaration.id ? [nameOf(declaration.id)] : [];
}

/** Handles `exports.a = exports.b = …`, `module.exports = { a, b }` and `Object.defineProperty(exports, 'a', …)`. */
function assignedNames(expression: Node): string[] {
  if (expression.type === 'CallExpression') return definedName(expression.callee, expression.arguments);
  if (expression.type !== 'AssignmentExpression') return [];
  const { left, right } = expression;
  if (left.type !== 'MemberExpression') return [];
  if (isExports(left)) {
    return right.type === 'ObjectExpression'
      ? right.properties.flatMap((property) => ('key' in property ? [nameOf(property.key)] : []))
      : assignedNames(right);
  }
  return [...(isExports(left.object) ? [nameOf(left.property)] : []), ...assignedNames(right)];
}

function definedName(callee: Node, args: readonly Node[]): string[] {
  const [target, name] = args;
  if (callee.type !== 'MemberExpression' || nameOf(callee.property) !== 'defineProperty') return [];
  return target && name && isExports(target) ? [nameOf(name)] : [];
}

function isExports(node: Node): boolean {
  if (node.type === 'Identifier') return node.name === 'exports';
  return node.type === 'MemberExpression' && nameOf(node.object) === 'module' && nameOf(node.property) === 'exports';
}

function nameOf(node: Node): string {
  if (node.type === 'Identifier') return node.name;
  return node.type === 'StringLiteral' ? node.value : '';
}
