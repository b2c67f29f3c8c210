import path from 'node:path';
import { findText, writeFiles } from './files.js';
import { findLiteral } from './object-literal.js';
import type { ObjectLiteral } from './object-literal.js';
import type { Stub } from './generated.js';

/** What was done about one skeleton. */
export interface StubOutcome {
  file: string;
  /** Members that were written. */
  written: readonly string[];
  /** Why the file was left alone although members may be missing. */
  refused?: string;
  /** What a person adds elsewhere, so that the skeleton is taken up. */
  toAdd?: NonNullable<Stub['use']>;
}

/**
 * Writes the members that are missing from the object literals that people fill
 * in, and the files that are missing; what exists is never changed.
 */
export async function writeStubs(root: string, stubs: readonly Stub[]): Promise<StubOutcome[]> {
  const outcomes: StubOutcome[] = [];
  // One after another: two skeletons may belong to one file.
  for (const stub of stubs) outcomes.push({ ...(await writeStub(root, stub)), ...(await findUse(root, stub)) });
  return outcomes.filter(({ written, refused, toAdd }) => written.length > 0 || refused !== undefined || toAdd);
}

/** What is missing where the object literal should be taken up; nothing once that file names it. */
async function findUse(root: string, { use, exportName }: Stub): Promise<Pick<StubOutcome, 'toAdd'>> {
  if (use === undefined) return {};
  const text = (await findText(path.join(root, use.file))) ?? '';
  return new RegExp(String.raw`\b${exportName}\b`, 'u').test(text) ? {} : { toAdd: use };
}

async function writeStub(root: string, stub: Stub): Promise<StubOutcome> {
  const { file, members } = stub;
  const text = await findText(path.join(root, file));
  if (text === undefined) {
    await writeFiles(root, new Map([[file, newFile(stub)]]));
    return { file, written: members.map(({ name }) => name) };
  }
  const literal = await findLiteral(file, text, stub.exportName);
  if (literal === undefined) return refuse(stub, `Expected an object literal named ${stub.exportName}; found none.`);
  const missing = members.filter(({ name }) => !literal.members.has(name));
  if (missing.length === 0) return { file, written: [] };
  if (literal.hasSpread) return refuse(stub, `${stub.exportName} spreads another object, which may hold its members.`);
  await writeFiles(root, new Map([[file, insertMembers(text, literal, missing)]]));
  return { file, written: missing.map(({ name }) => name) };
}

const refuse = ({ file }: Stub, refused: string): StubOutcome => ({ file, written: [], refused });

function newFile({ header, members, footer }: Stub): string {
  const indent = `${indentOf(header.trimEnd().split('\n').at(-1) ?? '')}  `;
  const lines = members.map(({ text }) => formatMember(text, indent));
  return [header.trimEnd(), ...lines, footer.replace(/^\n/u, '')].join('\n').replace(/\n*$/u, '\n');
}

/** Inserts members before the closing brace; every byte around them stays. */
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
