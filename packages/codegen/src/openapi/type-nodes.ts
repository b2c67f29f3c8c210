/**
 * The parts of the compiler that openapi-typescript creates and prints types with. The build has them in place of
 * `typescript`, which takes longer to load than the types take to write.
 */

interface Node {
  readonly kind: string;
  /** The text of an identifier, or the value of a literal. */
  readonly text?: string;
  readonly escapedText?: string;
  readonly literal?: Node;
  readonly name?: Node;
  members?: readonly Node[];
  readonly questionToken?: Node;
  /** The comments before the node. */
  comments?: string[];
  readonly print: (indent: string) => string;
}

const STEP = '    ';

const token = (kind: string, text: string): Node => ({ kind, print: () => text });

/** Prints members or elements on lines of their own. */
function printLines(nodes: readonly Node[], indent: string, separator = ''): string {
  const inner = indent + STEP;
  const lines = nodes.map((node) => `${printComments(node, inner)}${inner}${node.print(inner)}`);
  return `\n${lines.map((line) => `${line}${separator}\n`).join('')}${indent}`;
}

const printComments = ({ comments = [] }: Node, indent: string): string =>
  comments.map((text) => `${indent}${printComment(text, indent)}\n`).join('');

/** Indents the lines of a comment by that of the node, beside their own. */
function printComment(text: string, indent: string): string {
  const [first = '', ...others] = `/*${text}*/`.split(/\r\n|[\n\r\u2028\u2029]/);
  const lines = others.map((line) => {
    const trimmed = line.trim();
    const own = /^\s*/u.exec(line)?.[0] ?? '';
    return `${indent}${' '.repeat(own.length)}${trimmed}`;
  });
  return [first.trim(), ...lines].join('\n');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\v': '\\v',
  '\f': '\\f',
  '\b': '\\b',
  '\r': '\\r',
  '\n': '\\n',
  '\\': '\\\\',
  '"': '\\"',
};

/** Quotes a text as the compiler does: in ASCII. */
function quote(text: string): string {
  const escaped = text.replace(/[\\"]|[^ -\u007f]/g, (char, at: number) => {
    if (char === '\0') return /\d/.test(text.charAt(at + 1)) ? '\\x00' : '\\0';
    return ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}

const COMBINED = ['IntersectionType', 'UnionType'];

const printPart = (node: Node, indent: string, kinds: readonly string[]): string =>
  kinds.includes(node.kind) ? `(${node.print(indent)})` : node.print(indent);

const POSTFIXED = [...COMBINED, 'TypeOperator'];

function combine(kind: string, sign: string, types: readonly Node[]): Node {
  return { kind, print: (indent) => types.map((type) => printPart(type, indent, COMBINED)).join(` ${sign} `) };
}

const toIdentifier = (name: Node | string): Node => (typeof name === 'string' ? factory.createIdentifier(name) : name);

const printModifiers = (modifiers: readonly Node[] = []): string =>
  modifiers.map((modifier) => `${modifier.print('')} `).join('');

const factory = {
  createArrayTypeNode: (type: Node): Node => ({
    kind: 'ArrayType',
    print: (indent) => `${printPart(type, indent, POSTFIXED)}[]`,
  }),
  createFalse: () => token('FalseKeyword', 'false'),
  createIdentifier: (text: string): Node => ({ kind: 'Identifier', text, escapedText: text, print: () => text }),
  createIndexSignature: (modifiers: readonly Node[] | undefined, [key]: readonly Node[], type: Node): Node => ({
    kind: 'IndexSignature',
    print: (indent) => `${printModifiers(modifiers)}[${key?.print(indent) ?? ''}]: ${type.print(indent)};`,
  }),
  createIndexedAccessTypeNode: (object: Node, index: Node): Node => ({
    kind: 'IndexedAccessType',
    print: (indent) => `${printPart(object, indent, POSTFIXED)}[${index.print(indent)}]`,
  }),
  createInterfaceDeclaration(
    modifiers: readonly Node[] | undefined,
    name: Node | string,
    _typeParameters: undefined,
    _heritage: undefined,
    members: readonly Node[],
  ): Node {
    const node: Node = {
      kind: 'InterfaceDeclaration',
      name: toIdentifier(name),
      members,
      print: (indent) =>
        `${printModifiers(modifiers)}interface ${toIdentifier(name).print('')} {${printLines(node.members ?? [], indent)}}`,
    };
    return node;
  },
  createIntersectionTypeNode: (types: readonly Node[]) => combine('IntersectionType', '&', types),
  createKeywordTypeNode: (kind: string) => token(kind, kind.replace('Keyword', '').toLowerCase()),
  createLiteralTypeNode: (literal: Node): Node => ({
    kind: 'LiteralType',
    literal,
    print: (indent) => literal.print(indent),
  }),
  createModifier: (kind: string) => token(kind, kind.replace('Keyword', '').toLowerCase()),
  createNodeArray: (nodes: readonly Node[]) => nodes,
  createNull: () => token('NullKeyword', 'null'),
  createNumericLiteral: (value: number | string): Node => ({
    kind: 'NumericLiteral',
    text: String(value),
    print: () => String(value),
  }),
  createOptionalTypeNode: (type: Node): Node => ({
    kind: 'OptionalType',
    print: (indent) => `${printPart(type, indent, POSTFIXED)}?`,
  }),
  createParameterDeclaration: (
    _modifiers: undefined,
    _dots: undefined,
    name: Node | string,
    _question: undefined,
    type: Node,
  ): Node => ({
    kind: 'Parameter',
    print: (indent) => `${toIdentifier(name).print(indent)}: ${type.print(indent)}`,
  }),
  createPrefixUnaryExpression: (_operator: string, operand: Node): Node => ({
    kind: 'PrefixUnaryExpression',
    print: (indent) => `-${operand.print(indent)}`,
  }),
  createPropertySignature: (
    modifiers: readonly Node[] | undefined,
    name: Node,
    questionToken: Node | undefined,
    type: Node,
  ): Node => ({
    kind: 'PropertySignature',
    name,
    questionToken,
    print: (indent) =>
      `${printModifiers(modifiers)}${name.print(indent)}${questionToken?.print(indent) ?? ''}: ${type.print(indent)};`,
  }),
  createRestTypeNode: (type: Node): Node => ({ kind: 'RestType', print: (indent) => `...${type.print(indent)}` }),
  createStringLiteral: (text: string): Node => ({ kind: 'StringLiteral', text, print: () => quote(text) }),
  createToken: (kind: string) => token(kind, kind === 'QuestionToken' ? '?' : ''),
  createTrue: () => token('TrueKeyword', 'true'),
  createTupleTypeNode: (elements: readonly Node[]): Node => ({
    kind: 'TupleType',
    print: (indent) => `[${printLines(elements, indent, ',').replace(/,(\n\s*)$/u, '$1')}]`,
  }),
  createTypeAliasDeclaration: (
    modifiers: readonly Node[] | undefined,
    name: Node | string,
    _typeParameters: undefined,
    type: Node,
  ): Node => ({
    kind: 'TypeAliasDeclaration',
    name: toIdentifier(name),
    print: (indent) => `${printModifiers(modifiers)}type ${toIdentifier(name).print('')} = ${type.print(indent)};`,
  }),
  createTypeLiteralNode: (members: readonly Node[]): Node => ({
    kind: 'TypeLiteral',
    members,
    print: (indent) => (members.length === 0 ? '{}' : `{${printLines(members, indent)}}`),
  }),
  createTypeOperatorNode: (operator: string, type: Node): Node => ({
    kind: 'TypeOperator',
    print: (indent) => `${operator.replace('Keyword', '').toLowerCase()} ${printPart(type, indent, POSTFIXED)}`,
  }),
  createTypeReferenceNode: (name: Node | string, args: readonly Node[] = []): Node => ({
    kind: 'TypeReference',
    print: (indent) =>
      `${toIdentifier(name).print(indent)}${args.length === 0 ? '' : `<${args.map((type) => type.print(indent)).join(', ')}>`}`,
  }),
  createUnionTypeNode: (types: readonly Node[]) => combine('UnionType', '|', types),
};

/** A declaration that openapi-typescript writes as text. All have one mapped type at most, which gets its own lines. */
function toDeclaration(source: string): Node {
  const [, name = ''] = /^type (\w+)/u.exec(source) ?? [];
  const text = source.replace(/\{ (.*?);? \}/u, `{\n${STEP}$1;\n}`);
  return { kind: 'TypeAliasDeclaration', name: toIdentifier(name), print: () => text };
}

/** The names of the kinds are the kinds. */
const SyntaxKind = new Proxy<Record<string, string>>({}, { get: (_kinds, name) => name });

interface SourceFile {
  statements: readonly Node[];
}

const isOfKind =
  (kind: string) =>
  (node: Node): boolean =>
    node.kind === kind;

const typescript = {
  addSyntheticLeadingComment(node: Node, _kind: string, text: string): Node {
    node.comments = [...(node.comments ?? []), text];
    return node;
  },
  createPrinter: () => ({
    printFile: ({ statements }: SourceFile) => statements.map((node) => `${node.print('')}\n`).join(''),
  }),
  createSourceFile: (_file: string, source: string): SourceFile => ({
    statements: source === '' ? [] : [toDeclaration(source)],
  }),
  factory,
  isArrayTypeNode: isOfKind('ArrayType'),
  isInterfaceDeclaration: isOfKind('InterfaceDeclaration'),
  isTupleTypeNode: isOfKind('TupleType'),
  isTypeAliasDeclaration: isOfKind('TypeAliasDeclaration'),
  isTypeNode: (node: Node): boolean => !node.kind.endsWith('Declaration'),
  NewLineKind: SyntaxKind,
  ScriptKind: SyntaxKind,
  ScriptTarget: SyntaxKind,
  SyntaxKind,
};

export default typescript;
