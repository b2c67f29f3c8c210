import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';

import type { RecordTables } from '../record-schema.js';
import type { RecordStore } from '../record-store.js';

const OWNER = 'internal-data-bridge';

/** Writes the one record of the site itself and the one of this run, whose time is that of the process, to the second. */
export function writeSiteRecords(store: RecordStore, tables: RecordTables): void {
  const buildTime = new Date(Math.floor(performance.timeOrigin / 1000) * 1000).toISOString();
  const records = {
    Site: { pathPrefix: '', polyfill: 1 },
    SiteBuildMetadata: { buildTime },
  };
  store.write((writer) => {
    for (const [kind, fields] of Object.entries(records)) {
      if (!(kind in tables)) continue;
      const contentDigest = hash('md5', JSON.stringify(fields));
      const internal = { 'internal.type': kind, 'internal.owner': OWNER, 'internal.contentDigest': contentDigest };
      writer.put(kind, { id: kind, ...fields, ...internal }, 1);
    }
  });
}
