import type {
  ComputedField,
  ObjectField,
  RecordField,
  RecordTable,
  RelationField,
  ScalarField,
  ScalarType,
} from '@trellis/core/record-types';
import type { ComputedValues } from '../../src/query/record-queries.js';

const scalar = (path: string, type: ScalarType, options: Partial<ScalarField> = {}): ScalarField => ({
  kind: 'scalar',
  name: path.split('.').at(-1)!,
  path,
  list: false,
  nullable: true,
  type,
  column: path,
  dateArguments: type === 'Date',
  indexed: false,
  ...options,
});

const object = (path: string, fields: readonly RecordField[], list = false): ObjectField => ({
  kind: 'object',
  name: path.split('.').at(-1)!,
  path,
  list,
  nullable: true,
  type: `Item_${path}`,
  fields,
});

const relation = (name: string, type: string, by: RelationField['relation'], list = false): RelationField => ({
  kind: 'relation',
  name,
  path: name,
  list,
  nullable: !list,
  type,
  relation: by,
});

const computed = (name: string, type: string, fields: readonly RecordField[] = []): ComputedField => ({
  kind: 'computed',
  name,
  path: name,
  list: false,
  nullable: true,
  type,
  fields,
  needs: ['text', 'size'],
  hasArguments: fields.length > 0,
  dateArguments: false,
});

const node: readonly RecordField[] = [
  scalar('id', 'ID', { nullable: false, indexed: true }),
  relation('parent', 'Node', { by: 'parent' }),
  relation('children', 'Node', { by: 'children' }, true),
  object('internal', [scalar('internal.type', 'String'), scalar('internal.mediaType', 'String', { indexed: true })]),
];

/** Small record types with every kind of field. Posts are read from files, in which null differs from missing. */
export const tables: Readonly<Record<'Item' | 'Part' | 'Post', RecordTable>> = {
  Item: {
    kind: 'Item',
    single: 'item',
    all: 'allItem',
    fields: [
      scalar('text', 'String', { indexed: true }),
      scalar('size', 'Int'),
      scalar('ratio', 'Float'),
      scalar('done', 'Boolean'),
      scalar('day', 'Date'),
      scalar('alias', 'String', { column: 'text' }),
      scalar('tags', 'String', { list: true }),
      scalar('counts', 'Int', { list: true }),
      object('meta', [scalar('meta.title', 'String'), object('meta.deep', [scalar('meta.deep.level', 'Int')])]),
      object(
        'things',
        [
          scalar('things.name', 'String'),
          scalar('things.amount', 'Int'),
          scalar('things.labels', 'String', { list: true }),
          scalar('things.ratio', 'Float'),
          scalar('things.done', 'Boolean'),
        ],
        true,
      ),
      relation('childPart', 'Part', { by: 'child' }),
      relation('linked', 'Item', { by: 'link', from: 'link', to: 'id' }),
      scalar('link', 'String'),
      relation('chosen', 'Item', { by: 'link', from: 'chosen', to: 'id' }),
      { ...relation('several', 'Item', { by: 'link', from: 'several', to: 'id' }, true), nullable: true },
      relation('chosenBy', 'Item', { by: 'back', from: 'id', to: 'chosen', inList: false }, true),
      relation('firstChosenBy', 'Item', { by: 'back', from: 'id', to: 'chosen', inList: false }),
      relation('tagged', 'Part', { by: 'link', from: 'tags', to: 'name' }, true),
      computed('loud', 'String'),
      computed('picture', 'Item_picture', [scalar('picture.width', 'Int'), scalar('picture.label', 'String')]),
      ...node,
    ],
  },
  Part: {
    kind: 'Part',
    single: 'part',
    all: 'allPart',
    fields: [
      scalar('name', 'String'),
      scalar('ratio', 'Float'),
      scalar('done', 'Boolean'),
      scalar('tags', 'String', { list: true }),
      relation('taggedBy', 'Item', { by: 'back', from: 'name', to: 'tags', inList: true }, true),
      relation('firstTaggedBy', 'Item', { by: 'back', from: 'name', to: 'tags', inList: true }),
      ...node,
    ],
  },
  Post: {
    kind: 'Post',
    single: 'post',
    all: 'allPost',
    source: { globs: ['posts/*.yaml'] },
    fields: [
      scalar('text', 'String', { indexed: true }),
      scalar('size', 'Int'),
      scalar('ratio', 'Float'),
      scalar('done', 'Boolean'),
      scalar('day', 'Date'),
      scalar('tags', 'String', { list: true }),
      scalar('days', 'Date', { list: true }),
      object('meta', [
        scalar('meta.title', 'String'),
        scalar('meta.counts', 'Int', { list: true }),
        object('meta.deep', [scalar('meta.deep.level', 'Int'), scalar('meta.deep.day', 'Date')]),
      ]),
      object(
        'things',
        [
          scalar('things.name', 'String'),
          scalar('things.day', 'Date'),
          scalar('things.labels', 'String', { list: true }),
          object('things.deep', [scalar('things.deep.level', 'Int'), scalar('things.deep.done', 'Boolean')]),
        ],
        true,
      ),
      relation('chosen', 'Item', { by: 'link', from: 'chosen', to: 'id' }),
      relation('next', 'Post', { by: 'link', from: 'next', to: 'id' }),
      { ...relation('several', 'Post', { by: 'link', from: 'several', to: 'id' }, true), nullable: true },
      relation('nextOf', 'Post', { by: 'back', from: 'id', to: 'next', inList: false }, true),
      ...node,
    ],
  },
};

/** Returns the value of a computed field, for the store and for the reference implementation. */
export function computeValue(_kind: string, field: string, { text, size }: Readonly<Record<string, unknown>>): unknown {
  if (field === 'loud') return typeof text === 'string' ? `${text}!` : null;
  return typeof size === 'number' ? { width: size * 2, label: text } : null;
}

/** Provides texts synchronously and objects asynchronously, for the queries of one request. */
export function computedValues(): () => ComputedValues {
  const values: ComputedValues = {
    find: (kind, field, record) => (field === 'loud' ? computeValue(kind, field, record) : undefined),
    load: (kind, field, records) => Promise.resolve(records.map((record) => computeValue(kind, field, record))),
  };
  return () => values;
}
