import type { ChildProcess } from 'node:child_process';

/** Waits for output that matches, and returns its first group. @throws Error if the process ends before. */
export function waitForLine(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = pattern.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The process ended with ${String(code)}: ${output}`)));
  });
}
