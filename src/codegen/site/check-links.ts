import { isLeafType, isObjectType } from 'graphql';
import type { GraphQLNamedOutputType, GraphQLObjectType } from 'graphql';
import { findDirective, readDirectives } from './field-directives.js';
import type { LinkEnds } from './field-directives.js';
import type { MistakeList } from './mistakes.js';
import { findStored, isRecordType, shapeOf, typeNodeOf } from './sdl-types.js';
import type { SdlField } from './sdl-types.js';

/** Whether the field holds the keys of its link in a column of its own. */
export function isOwnLink(field: SdlField | undefined): boolean {
  const link = field && readDirectives(field).link;
  return link !== undefined && link.from === undefined;
}

/** Whether both ends of a link hold values that can be equal. */
export function checkLink(kind: GraphQLObjectType, field: SdlField, link: LinkEnds, mistakes: MistakeList): void {
  const { type, list, nullable } = shapeOf(field);
  const directive = findDirective(field, 'link');
  if (directive === undefined) return;
  if (!isObjectType(type) || !isRecordType(type)) {
    mistakes.add(typeNodeOf(field), `Expected a @record type; received ${String(field.type)}.`);
    return;
  }
  if (!list && !nullable) {
    const expected = `Expected ${type.name}, for the record that a link names may be missing`;
    mistakes.add(typeNodeOf(field), `${expected}; received ${String(field.type)}.`);
  }
  const to = findEnd({ end: 'to', path: link.to, of: type, list: false });
  const from = link.from === undefined ? 'text' : findEnd({ end: 'from', path: link.from, of: kind, list });
  for (const found of [from, to]) if (typeof found === 'object') mistakes.add(directive, found.message);
  if (typeof from === 'string' && typeof to === 'string' && from !== to)
    mistakes.add(
      directive,
      `Expected "to" to name a field that holds ${from}, as the keys are; "${link.to}" holds ${to}.`,
    );
}

interface End {
  readonly end: 'from' | 'to';
  readonly path: string;
  readonly of: GraphQLObjectType;
  readonly list: boolean;
}

/** What the values of an end are, or why it is none. */
function findEnd({ end, path, of, list }: End): string | { readonly message: string } {
  const stored = findStored(of, path);
  const shape = stored && shapeOf(stored);
  if (shape?.list === list && isLeafType(shape.type)) return valueOf(shape.type);
  const values = list ? 'a list of values' : 'one value';
  return { message: `Expected "${end}" to name a stored field of ${of.name} with ${values}; received "${path}".` };
}

/** Dates, ids and enums are kept as text. */
function valueOf({ name }: GraphQLNamedOutputType): string {
  if (name === 'Int' || name === 'Float') return 'numbers';
  return name === 'Boolean' ? 'true or false' : 'text';
}
