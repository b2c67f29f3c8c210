// Runs in a separate process, on the built code, so that its memory is that of the scan alone.
import { performance } from 'node:perf_hooks';
import process from 'node:process';

import { openSite } from '@trellis/site/site';
import { records } from '../../dist/generated/site/records.js';

const [directory, stateDirectory] = process.argv.slice(2);
const started = performance.now();
const site = await openSite({ directory, stateDirectory, tables: records });
const milliseconds = performance.now() - started;
const { files, hashed } = site.summary;
site.close();
const { user, system } = process.cpuUsage();
process.stdout.write(
  JSON.stringify({
    milliseconds,
    cpuMilliseconds: (user + system) / 1000,
    megabytes: process.memoryUsage().rss / 1e6,
    peakMegabytes: process.resourceUsage().maxRSS / 1e3,
    files,
    hashed,
  }),
);
