import type { Element, ElementContent, Root } from 'hast';
import {
  docker,
  elixir,
  graphql,
  haskell,
  jsx,
  nginx,
  powershell,
  refractor,
  shellSession,
  toml,
  tsx,
  zig,
} from './libraries.js';
import { textOf, visitElements } from './text.js';

for (const language of [docker, elixir, graphql, haskell, jsx, nginx, powershell, shellSession, toml, tsx, zig]) {
  refractor.register(language);
}

/** Highlighting takes time beyond that, and a longer listing is not read. */
const MAX_CHARACTERS = 100_000;

/** Highlights code blocks in a known language, with the class names of Prism. Adds nothing but `span` elements. */
export function highlightCode(tree: Root): void {
  visitElements(tree, (element) => {
    const [code] = element.children;
    if (element.tagName !== 'pre' || code?.type !== 'element' || code.tagName !== 'code') return;
    const language = languageOf(code);
    if (language === undefined || !refractor.registered(language)) return;
    const text = textOf(code);
    if (text.length <= MAX_CHARACTERS) code.children = refractor.highlight(text, language).children as ElementContent[];
  });
}

/** Returns the language in the class of a code block, in lower case. */
function languageOf({ properties: { className } }: Element): string | undefined {
  const names = Array.isArray(className) ? className.map(String) : [];
  return names.flatMap((name) => /^language-(.+)$/u.exec(name)?.[1]?.toLowerCase() ?? [])[0];
}
