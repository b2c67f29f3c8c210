// Opens several site folders in one process and measures the same queries over each, in turns, as the server runs them:
// parsed and validated once, then executed by graphql-js with the server's resolvers.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { execute, parse } from 'graphql';

import { product } from '../../dist/product.js';
import { createSiteContext } from '../../dist/resolvers/context.js';
import { loadSiteSchema } from '../../dist/site-data/schema.js';
import { buildExecutableSchema } from '@trellis/site/graphql/site-schema';
import { createFormatDate } from '@trellis/site/query/dates';
import { openSite } from '@trellis/site/site';

const [queries, rounds, ...directories] = JSON.parse(process.argv[2]);
const siteSchema = await loadSiteSchema(product);
const schema = buildExecutableSchema(siteSchema);
const formatDate = createFormatDate();
const budget = {
  isOver: false,
  spend: () => undefined,
  check: () => undefined,
  statementMs: Infinity,
  nextTurn: () => Promise.resolve(),
  work: (piece) => piece(),
  workInTurn: (piece) => piece(),
};

const sites = [];
for (const directory of directories) {
  const stateDirectory = `${directory}.state-scale`;
  rmSync(stateDirectory, { recursive: true, force: true });
  const site = await openSite({ directory, stateDirectory, tables: siteSchema.tables });
  sites.push({
    site,
    stateDirectory,
    times: new Map(queries.map(({ name }) => [name, { first: [], again: [], rows: undefined }])),
  });
}

const documents = new Map(queries.map(({ query }) => [query, parse(query)]));

function ask({ store }, { query, variables }, round) {
  const startedAt = performance.now();
  const { data, errors } = execute({
    schema,
    document: documents.get(query),
    variableValues: variables[round % variables.length],
    contextValue: createSiteContext({ records: store, formatDate }, budget),
  });
  const milliseconds = performance.now() - startedAt;
  if (errors) throw errors[0];
  return { milliseconds, rows: data.allFile.nodes?.length };
}

/** Clears the caches of results, as queries within a transaction that fails may have seen any change. */
function forget({ store }) {
  try {
    store.write(() => {
      throw new Error('no record changes');
    });
  } catch {
    // The error is the one above.
  }
}

for (let round = 0; round < rounds; round += 1) {
  for (const query of queries) {
    for (const { site, times } of sites) {
      forget(site);
      const measured = times.get(query.name);
      const asked = ask(site, query, round);
      measured.first.push(asked.milliseconds);
      measured.rows = asked.rows;
      for (let time = 0; time < 5; time += 1) measured.again.push(ask(site, query, round).milliseconds);
    }
  }
}

process.stdout.write(JSON.stringify(sites.map(({ times }) => Object.fromEntries(times))));
for (const { site, stateDirectory } of sites) {
  site.close();
  rmSync(stateDirectory, { recursive: true, force: true });
}
