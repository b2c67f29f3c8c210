import { readFileSync } from 'node:fs';
import { installTool } from '../../../tools/install.js';

interface ExampleKind {
  readonly name: string;
  readonly examples: readonly { readonly repository?: { readonly full_name: string } | null }[];
}

/** Reads the webhook payloads that GitHub publishes, by event. */
export function readExamples(): readonly ExampleKind[] {
  installTool('tools/witnesses');
  const file = 'tools/witnesses/node_modules/@octokit/webhooks-examples/api.github.com/index.json';
  return JSON.parse(readFileSync(file, 'utf8')) as readonly ExampleKind[];
}
