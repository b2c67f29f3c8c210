import path from 'node:path';
import type { Expression, Node, ObjectLiteralElementLike, ObjectLiteralExpression, Statement } from 'typescript';
import { findText, listFiles, writeFiles } from '../documents.js';
import type { Stub } from '../output.js';

/** The result of writing one stub. */
export interface StubResult {
  file: string;
  /** The members that were written. */
  written: readonly string[];
  /** Why the file was not changed although members may be missing. */
  refused?: string;
  /** The lines that a developer must add to another file, so that the object is used. */
  toAdd?: NonNullable<Stub['use']>;
}

/** Creates missing stub files and adds missing members to existing ones. Existing code is never changed. */
export async function writeStubs(root: string, stubs: readonly Stub[]): Promise<StubResult[]> {
  const outcomes: StubResult[] = [];
  // Sequential, as two stubs may belong to the same file.
  for (const each of stubs) {
    const stub = await locate(root, each);
    outcomes.push({ ...(await writeStub(root, stub)), ...(await findUse(root, stub)) });
  }
  return outcomes.filter(({ written, refused, toAdd }) => written.length > 0 || refused !== undefined || toAdd);
}

/** Returns the stub with the file of its folder that declares the object, which may also hold objects of other stubs. */
async function locate(root: string, stub: Stub): Promise<Stub> {
  const folder = path.posix.dirname(stub.file);
  for (const name of await listFiles(path.join(root, folder))) {
    const file = `${folder}/${name}`;
    const text = (await findText(path.join(root, file))) ?? '';
    if (new RegExp(String.raw`^(?:export )?(?:const|function) ${stub.exportName}\b`, 'mu').test(text)) {
      return { ...stub, file };
    }
  }
  return stub;
}

/** Writes the file that uses the object if it does not exist. Otherwise returns the lines to add to the file that uses the object, unless that file already mentions it. */
async function findUse(root: string, { use, exportName }: Stub): Promise<Pick<StubResult, 'toAdd'>> {
  if (use === undefined) return {};
  const text = await findText(path.join(root, use.file));
  if (text === undefined && use.create !== undefined) {
    await writeFiles(root, new Map([[use.file, use.create]]));
    return {};
  }
  return new RegExp(String.raw`\b${exportName}\b`, 'u').test(text ?? '') ? {} : { toAdd: use };
}

async function writeStub(root: string, stub: Stub): Promise<StubResult> {
  const { file, members } = stub;
  const text = await findText(path.join(root, file));
  if (text === undefined) {
    await writeFiles(root, new Map([[file, newFile(stub)]]));
    return { file, written: members.map(({ name }) => name) };
  }
  const literal = await findLiteral(file, text, stub.exportName);
  if (literal === undefined) return refuse(stub, `No object literal named ${stub.exportName} found.`);
  const missing = members.filter(({ name }) => !literal.members.has(name));
  if (missing.length === 0) return { file, written: [] };
  if (literal.hasSpread)
    return refuse(stub, `${stub.exportName} spreads another object, which may contain the missing members.`);
  await writeFiles(root, new Map([[file, insertMembers(text, literal, missing)]]));
  return { file, written: missing.map(({ name }) => name) };
}

const refuse = ({ file }: Stub, refused: string): StubResult => ({ file, written: [], refused });

function newFile({ header, members, footer }: Stub): string {
  const indent = `${indentOf(header.trimEnd().split('\n').at(-1) ?? '')}  `;
  const lines = members.map(({ text }) => formatMember(text, indent));
  return [header.trimEnd(), ...lines, footer.replace(/^\n/u, '')].join('\n').replace(/\n*$/u, '\n');
}

/** Inserts members before the closing brace and preserves all other text. */
function insertMembers(text: string, literal: ObjectLiteral, missing: Stub['members']): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const outer = indentOf(lineAt(text, literal.open));
  const inside = text.slice(literal.lastEnd, literal.close);
  const at = literal.lastEnd + inside.trimEnd().length;
  const comma = literal.needsComma ? ',' : '';
  const lines = missing.map((member) => formatMember(member.text, `${outer}  `)).join('\n');
  const inserted = `\n${lines}${text.slice(at, literal.close).includes('\n') ? '' : `\n${outer}`}`;
  return [
    text.slice(0, literal.lastEnd),
    comma,
    text.slice(literal.lastEnd, at),
    inserted.replaceAll('\n', newline),
    text.slice(at),
  ].join('');
}

function formatMember(text: string, indent: string): string {
  const member = text.trim().replace(/,?$/u, ',');
  return member.replace(/^(?=.)/gmu, indent);
}

const lineAt = (text: string, position: number) => text.slice(text.lastIndexOf('\n', position) + 1, position);

const indentOf = (line: string) => /^[ \t]*/u.exec(line)?.[0] ?? '';

/** The position of an object literal in its text, in characters. */
export interface ObjectLiteral {
  open: number;
  /** The end of the last member, or the position after the opening brace if there are no members. */
  lastEnd: number;
  close: number;
  members: ReadonlySet<string>;
  hasSpread: boolean;
  /** Whether the last member lacks a trailing comma. */
  needsComma: boolean;
}

/** Finds the object literal that the top-level constant or function `name` declares or returns. */
async function findLiteral(file: string, text: string, name: string): Promise<ObjectLiteral | undefined> {
  const { default: ts } = await import('typescript');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const literal = source.statements.map(declared).find((found) => found !== undefined);
  return literal && describe(literal);

  function declared(statement: Statement): ObjectLiteralExpression | undefined {
    if (ts.isFunctionDeclaration(statement))
      return statement.name?.text === name ? returned(statement.body) : undefined;
    if (!ts.isVariableStatement(statement)) return undefined;
    const declaration = statement.declarationList.declarations.find(
      (candidate) => ts.isIdentifier(candidate.name) && candidate.name.text === name,
    );
    return declaration?.initializer && unwrap(declaration.initializer);
  }

  function unwrap(expression: Expression): ObjectLiteralExpression | undefined {
    if (ts.isObjectLiteralExpression(expression)) return expression;
    if (ts.isArrowFunction(expression)) return returned(expression.body);
    if (
      ts.isParenthesizedExpression(expression) ||
      ts.isAsExpression(expression) ||
      ts.isSatisfiesExpression(expression)
    )
      return unwrap(expression.expression);
    return undefined;
  }

  function returned(body: Node | undefined): ObjectLiteralExpression | undefined {
    if (body === undefined) return undefined;
    if (!ts.isBlock(body)) return unwrap(body as Expression);
    const last = body.statements.findLast(ts.isReturnStatement);
    return last?.expression && unwrap(last.expression);
  }

  function describe({ properties, end }: ObjectLiteralExpression & Node): ObjectLiteral {
    const last = properties.at(-1);
    return {
      open: properties.pos - 1,
      lastEnd: last?.end ?? properties.pos,
      close: end - 1,
      members: new Set(properties.flatMap(memberName)),
      hasSpread: properties.some(ts.isSpreadAssignment),
      needsComma: last !== undefined && !properties.hasTrailingComma,
    };
  }

  function memberName({ name: member }: ObjectLiteralElementLike): string[] {
    return member !== undefined && (ts.isIdentifier(member) || ts.isStringLiteral(member)) ? [member.text] : [];
  }
}
