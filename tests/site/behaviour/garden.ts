import { OperationBudget } from '@trellis/server/graphql/budget';
import { createFormatDate } from '@trellis/site/query/dates';
import { graphql } from 'graphql';
import type { World } from '../../../packages/site/tests/query/evaluator.js';
import { storeOf } from '../../../packages/site/tests/query/world.js';
import { records } from '../../../src/generated/site/records.js';
import type { SiteContext } from '../../../src/resolvers/context.js';
import { buildSiteSchema } from '../../resolvers/site-schema.js';

/** A small site with records for every statement: plugins for lists, objects and nulls, files for everything else. */
const WORLD: World = {
  SitePlugin: [
    {
      id: 'p0',
      name: 'a',
      version: '1',
      nodeAPIs: ['x', 'y', 'x'],
      packageJson: {
        name: 'a',
        main: null,
        dependencies: [
          { name: 'd1', version: '1' },
          { name: 'd2', version: null },
        ],
      },
      pluginOptions: { pathCheck: true },
    },
    {
      id: 'p1',
      name: 'B',
      version: null,
      nodeAPIs: [],
      packageJson: { name: 'b', main: 'm', dependencies: [] },
      pluginOptions: { pathCheck: false },
    },
    { id: 'p2', name: null, version: '2', nodeAPIs: null, packageJson: null },
    {
      id: 'p3',
      name: 'a-10',
      version: '10',
      nodeAPIs: [null, 'z'],
      packageJson: {
        name: 'a',
        main: 'n',
        dependencies: [
          { name: 'd1', version: '2' },
          { name: 'd2', version: '1' },
        ],
      },
    },
    {
      id: 'p4',
      name: 'a-9',
      version: '9',
      nodeAPIs: ['y'],
      packageJson: { name: null, main: 'x', dependencies: null },
    },
  ],
  File: [
    { id: 'f0', name: 'one', size: 3, blocks: 8, mtime: '2016-02-28T10:00:00.000Z', extension: 'md' },
    { id: 'f1', name: 'two', size: 20, blocks: null, mtime: '2016-02-29T10:00:00.000Z', extension: 'png' },
    { id: 'f2', name: 'ärger', size: 3, blocks: 16, mtime: '2020-01-01T00:00:00.000Z', extension: 'md' },
    { id: 'f3', name: 'Zebra', size: 100, blocks: null, mtime: '2021-01-01T00:00:00.000Z', extension: 'txt' },
    { id: 'f4', name: '_x', size: 20, blocks: 0, mtime: '2021-06-01T00:00:00.000Z', extension: 'md' },
  ],
  ImageProc: [{ id: 'i1', parent: 'f1', internal: { type: 'ImageProc', contentDigest: 'c' } }],
  Site: [{ id: 'Site', polyfill: true, port: '8000' }],
  SitePage: [
    { id: 's0', path: '/', pluginCreatorId: 'p0' },
    { id: 's1', path: '/x', pluginCreatorId: null },
  ],
};

const store = storeOf(WORLD, records);
const schema = buildSiteSchema();

export const closeGarden = (): void => store.close();

/** Runs a query. Throws an error with all messages if the result has errors. */
export async function ask(
  source: string,
  variableValues: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const budget = new OperationBudget({ values: 1e6, workMs: 10_000, timeoutMs: 10_000 });
  const contextValue = { records: store, formatDate: createFormatDate(), budget } as unknown as SiteContext;
  const { data, errors } = await graphql({ schema, source, variableValues, contextValue });
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
}

/** Returns the ids of all records that an `all` query returns, such as `SitePlugin(filter: {})`. */
export async function idsOf(query: string, variableValues: Record<string, unknown> = {}): Promise<string[]> {
  const declared = Object.keys(variableValues).length > 0 ? 'query ($value: String) ' : '';
  const { all } = await ask(`${declared}{ all: all${query} { nodes { id } } }`, variableValues);
  return (all as { nodes: { id: string }[] }).nodes.map(({ id }) => id);
}
