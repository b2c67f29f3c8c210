/** Loaded into a process before its program: writes its processor time in milliseconds to the file `CPU_FILE` at its end. */
import { writeFileSync } from 'node:fs';
import process from 'node:process';

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.CPU_FILE, String((user + system) / 1000));
});
