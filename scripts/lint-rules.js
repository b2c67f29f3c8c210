// @ts-check
/** Rules of this repository for oxlint, which no linter has. `npm run lint:code -- --fix` applies them. */

/** The groups of imports in their order: Node, packages, folders above, and this folder. */
const GROUPS = [/^node:/u, /^[^.]/u, /^\.\.\//u, /^\./u];

/**
 * @typedef {{ name: string, isType: boolean }} Binding
 * @typedef {{ module: string, wholes: Binding[], defaults: Binding[], names: Binding[] }} Import
 */

/** Requires one import statement for each module, in the order of `GROUPS`. Imports for effects come first. */
const sortedImports = {
  meta: { type: 'layout', fixable: 'code', schema: [] },
  create: (/** @type {any} */ { sourceCode, report }) => ({
    Program(/** @type {any} */ { body }) {
      const nodes = body.filter((/** @type {any} */ { type }) => type === 'ImportDeclaration');
      if (nodes.length < 2) return;
      const statements = nodes.map(toStatements).flat();
      const expected = sort(nodes);
      if (statements.join('\n') === expected.join('\n')) return;
      const range = [nodes[0].range[0], nodes.at(-1).range[1]];
      const isOneBlock = body.indexOf(nodes.at(-1)) - body.indexOf(nodes[0]) === nodes.length - 1;
      const hasMore = sourceCode.getAllComments().some((/** @type {any} */ comment) => isWithin(comment.range, range));
      const isPlain = nodes.every((/** @type {any} */ { attributes }) => !attributes?.length);
      report({
        node: nodes.find(
          (/** @type {any} */ _node, /** @type {number} */ index) => statements[index] !== expected[index],
        ),
        message: 'Expected one import of each module, in this order: node:, packages, ../, ./',
        fix: (/** @type {any} */ fixer) =>
          isOneBlock && !hasMore && isPlain ? fixer.replaceTextRange(range, expected.join('\n')) : null,
      });
    },
  }),
};

/** Requires optional members and parameters without `undefined`, which the question mark includes. */
const plainOptional = {
  meta: { type: 'suggestion', fixable: 'code', schema: [] },
  create: (/** @type {any} */ context) => {
    const check = (/** @type {any} */ node) => {
      const union = node.typeAnnotation?.typeAnnotation;
      if (!node.optional || union?.type !== 'TSUnionType') return;
      const index = union.types.findIndex((/** @type {any} */ { type }) => type === 'TSUndefinedKeyword');
      if (index < 0) return;
      const member = union.types[index];
      const { sourceCode } = context;
      // Other members may be in parentheses, so the bar is removed with the member, and nothing else.
      const range =
        index === 0
          ? [member.range[0], sourceCode.getTokenAfter(member, isBar).range[1]]
          : [sourceCode.getTokenBefore(member, isBar).range[0], member.range[1]];
      const message = 'Expected an optional type without undefined, which "?" includes.';
      context.report({ node: member, message, fix: (/** @type {any} */ fixer) => fixer.removeRange(range) });
    };
    return { TSPropertySignature: check, PropertyDefinition: check, Identifier: check };
  },
};

const isBar = (/** @type {any} */ { value }) => value === '|';

const isWithin = (/** @type {number[]} */ [start = 0], /** @type {number[]} */ [from = 0, to = 0]) =>
  start > from && start < to;

/** Returns the statements that should be there. */
function sort(/** @type {any[]} */ nodes) {
  const effects = nodes.filter(({ specifiers }) => specifiers.length === 0);
  /** @type {Map<string, Import>} */
  const modules = new Map();
  for (const one of nodes.filter((node) => !effects.includes(node)).map(toImport)) {
    const merged = modules.get(one.module);
    if (!merged) modules.set(one.module, one);
    else for (const kind of /** @type {const} */ (['wholes', 'defaults', 'names'])) merged[kind].push(...one[kind]);
  }
  const sorted = [...modules.values()].sort((a, b) => compare(a.module, b.module));
  return [...effects.flatMap(toStatements), ...sorted.flatMap(print)];
}

function compare(/** @type {string} */ a, /** @type {string} */ b) {
  const rank = (/** @type {string} */ module) => GROUPS.findIndex((group) => group.test(module));
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

function toStatements(/** @type {any} */ node) {
  return node.specifiers.length === 0 ? [`import '${node.source.value}';`] : [printAsIs(node)];
}

/** @returns {Import} */
function toImport(/** @type {any} */ { source, specifiers, importKind }) {
  /** @type {Import} */
  const result = { module: source.value, wholes: [], defaults: [], names: [] };
  for (const { type, local, imported, importKind: kind } of specifiers) {
    const isType = importKind === 'type' || kind === 'type';
    const original = imported?.name ?? imported?.value;
    const name = original === undefined || original === local.name ? local.name : `${original} as ${local.name}`;
    if (type === 'ImportNamespaceSpecifier') result.wholes.push({ name, isType });
    else if (type === 'ImportDefaultSpecifier') result.defaults.push({ name, isType });
    else result.names.push({ name, isType });
  }
  return result;
}

/** Prints a statement as the file has it, in the form of `print`. */
function printAsIs(/** @type {any} */ node) {
  const { module, wholes, defaults, names } = toImport(node);
  const isType = node.importKind === 'type';
  const whole = wholes.map(({ name }) => `* as ${name}`);
  const braces = names.length === 0 ? [] : [printNames(names, !isType)];
  const clause = [...defaults.map(({ name }) => name), ...whole, ...braces].join(', ');
  return `import ${isType ? 'type ' : ''}${clause} from '${module}';`;
}

/** Prints the fewest statements that import from one module. A type and a value of one name are imported once. */
function print(/** @type {Import} */ { module, wholes, defaults, names: all }) {
  const from = `from '${module}';`;
  const names = all.filter(
    ({ name, isType }, index) =>
      !all.some(
        (other, at) => other.name === name && ((isType && !other.isType) || (other.isType === isType && at < index)),
      ),
  );
  const statements = wholes.map(({ name, isType }) => `import ${isType ? 'type ' : ''}* as ${name} ${from}`);
  const areTypes = names.every(({ isType }) => isType);
  const joined = defaults.find(({ isType }) => !isType && names.length > 0);
  for (const one of defaults)
    if (one !== joined) statements.push(`import ${one.isType ? 'type ' : ''}${one.name} ${from}`);
  if (joined) statements.push(`import ${joined.name}, ${printNames(names, true)} ${from}`);
  else if (names.length > 0)
    statements.push(`import ${areTypes ? 'type ' : ''}${printNames(names, !areTypes)} ${from}`);
  return statements;
}

function printNames(/** @type {Binding[]} */ names, /** @type {boolean} */ marksTypes) {
  return `{ ${names.map(({ name, isType }) => (marksTypes && isType ? 'type ' : '') + name).join(', ')} }`;
}

export default {
  meta: { name: 'repository' },
  rules: { 'sorted-imports': sortedImports, 'plain-optional': plainOptional },
};
