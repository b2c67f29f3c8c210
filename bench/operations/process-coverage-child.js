/**
 * Loaded into a rendering process before its program: writes which functions have run since the last reply to a file in
 * the folder `COVERAGE_FOLDER`, before each reply. Such a process is killed, so it can't write anything at its end.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import path from 'node:path';
import process from 'node:process';

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const send = process.send.bind(process);
let replies = 0;
process.send = (...message) => {
  // Sessions with the own thread reply at once.
  session.post('Profiler.takePreciseCoverage', (_error, coverage) => {
    replies += 1;
    writeFileSync(path.join(process.env.COVERAGE_FOLDER, `${process.pid}-${replies}.json`), JSON.stringify(coverage));
  });
  return send(...message);
};
