import { isLeafType, isObjectType } from 'graphql';
import type { GraphQLNamedOutputType, GraphQLObjectType } from 'graphql';
import { findDirective, readDirectives } from './field-directives.js';
import type { LinkEnds } from './field-directives.js';
import type { DiagnosticList } from './diagnostics.js';
import { findStored, isRecordType, getFieldShape, getTypeNode } from './sdl-types.js';
import type { SdlField } from './sdl-types.js';

/** Returns whether the keys of a link are stored in a column of the field itself. */
export function hasOwnKeyColumn(field: SdlField | undefined): boolean {
  const link = field && readDirectives(field).link;
  return link !== undefined && link.from === undefined;
}

/** Checks that both ends of a link exist and have values of the same type. */
export function checkLink(kind: GraphQLObjectType, field: SdlField, link: LinkEnds, diagnostics: DiagnosticList): void {
  const { type, list, nullable } = getFieldShape(field);
  const directive = findDirective(field, 'link');
  if (directive === undefined) return;
  if (!isObjectType(type) || !isRecordType(type)) {
    diagnostics.add(getTypeNode(field), `Expected a @record type; received ${String(field.type)}.`);
    return;
  }
  if (!list && !nullable) {
    const expected = `Expected ${type.name}, as the linked record may be missing`;
    diagnostics.add(getTypeNode(field), `${expected}; received ${String(field.type)}.`);
  }
  const to = findEnd({ end: 'to', path: link.to, of: type, list: false });
  const from = link.from === undefined ? 'text' : findEnd({ end: 'from', path: link.from, of: kind, list });
  for (const found of [from, to]) if (typeof found === 'object') diagnostics.add(directive, found.message);
  if (typeof from === 'string' && typeof to === 'string' && from !== to)
    diagnostics.add(
      directive,
      `Expected "to" to name a field of the same type as the keys (${from}); received "${link.to}" (${to}).`,
    );
}

interface End {
  readonly end: 'from' | 'to';
  readonly path: string;
  readonly of: GraphQLObjectType;
  readonly list: boolean;
}

/** Returns the type of the values at an end of a link, or an error message. */
function findEnd({ end, path, of, list }: End): string | { readonly message: string } {
  const stored = findStored(of, path);
  const shape = stored && getFieldShape(stored);
  if (shape?.list === list && isLeafType(shape.type)) return valueOf(shape.type);
  const values = list ? 'a list of values' : 'one value';
  return { message: `Expected "${end}" to name a stored field of ${of.name} with ${values}; received "${path}".` };
}

/** Returns the type of values in storage, where dates, ids and enums are text. */
function valueOf({ name }: GraphQLNamedOutputType): string {
  if (name === 'Int' || name === 'Float') return 'numbers';
  return name === 'Boolean' ? 'booleans' : 'text';
}
