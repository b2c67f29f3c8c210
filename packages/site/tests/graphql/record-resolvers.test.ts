import type { ComputedField, ScalarField } from '@trellis/core/record-types';
import { createRecordResolvers } from '../../src/graphql/record-access.js';

const taken: ScalarField = {
  kind: 'scalar',
  name: 'taken',
  path: 'shot.taken',
  list: false,
  nullable: true,
  type: 'Date',
  column: 'shot.taken',
  dateArguments: true,
  indexed: false,
};

const shot: ComputedField = {
  kind: 'computed',
  name: 'shot',
  path: 'shot',
  list: false,
  nullable: true,
  type: 'Shot',
  fields: [taken],
  needs: [],
  hasArguments: false,
  dateArguments: false,
};

test('a date in a computed object is formatted according to its arguments', () => {
  const resolvers = createRecordResolvers({
    Photo: { kind: 'Photo', single: 'photo', all: 'allPhoto', fields: [shot] },
  });
  const budget = { isOver: false, work: (piece: () => unknown) => piece() };
  const context = { budget, formatDate: (date: unknown, args: object) => [date, args] };
  const formatted = resolvers.Shot?.taken?.(
    { taken: '2020' },
    { fromNow: true } as never,
    context as never,
    undefined as never,
  );
  expect(formatted).toEqual(['2020', { fromNow: true }]);
});
