/** @import { Editors } from './globals.d.ts' */

const { createElement: element, useEffect, useRef } = React;
const { useEditorContext } = GraphiQL.React;

/** The `localStorage` key under which GraphiQL stores which plugin is open. */
const KEPT_PLUGIN = 'graphiql:visiblePlugin';

/** The minimum width for a list beside the editors. */
const ROOMY = '(min-width: 60rem)';

/**
 * Opens a query in a new tab and leaves the other tabs unchanged.
 *
 * @param {Editors} editors
 * @param {string} query
 * @param {string} [variables]
 */
function openTab({ addTab, queryEditor, variableEditor }, query, variables = '') {
  // The editors switch to the new tab only after a render.
  ReactDOM.flushSync(addTab);
  queryEditor?.setValue(query);
  variableEditor?.setValue(variables);
}

function Examples() {
  const editors = useEditorContext({ nonNull: true });
  return element(
    'section',
    { className: 'explorer-examples', 'aria-label': 'Examples' },
    element('div', { className: 'graphiql-doc-explorer-title' }, 'Examples'),
    element('p', null, 'Each example opens in a new tab.'),
    element(
      'ul',
      null,
      examples.map(({ title, about, query, variables }) =>
        element(
          'li',
          { key: title },
          element('button', { type: 'button', onClick: () => openTab(editors, query, variables) }, title),
          element('p', null, about),
        ),
      ),
    ),
  );
}

const examplesPlugin = {
  title: 'Examples',
  icon: () =>
    element(
      'svg',
      { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, 'aria-hidden': true },
      element('path', {
        d: 'M9 3.5a6 6 0 0 0-2 10.5c.8.7 1 1.5 1 3h6c0-1.5.2-2.3 1-3A6 6 0 0 0 13 3.5a6 6 0 0 0-4 0zM8.5 20h5',
      }),
    ),
  content: Examples,
};

/** Reads the query that a link passes in the fragment, which is not sent to the server, and clears the fragment. */
function readQueryFromLink() {
  const query = new URLSearchParams(location.hash.slice(1)).get('query');
  // A reload restores the tab, so the query must not be opened twice.
  if (query !== null) history.replaceState(null, '', location.pathname);
  return query;
}

/** Lets Tab leave an editor, so that keyboard users are not trapped in it. */
const TAB_KEYS = { Tab: false, 'Shift-Tab': false };

const withTabKeys = new WeakSet();

/**
 * Sets up the editors once they exist: the Tab keys, and the query of a link. Draws nothing.
 *
 * @param {{ readonly query: string | null }} properties
 */
function WithEditors({ query }) {
  const editors = useEditorContext({ nonNull: true });
  const isOpened = useRef(false);
  useEffect(() => {
    const { queryEditor, variableEditor, headerEditor, responseEditor } = editors;
    for (const editor of [queryEditor, variableEditor, headerEditor, responseEditor]) {
      if (!editor || withTabKeys.has(editor)) continue;
      withTabKeys.add(editor);
      editor.addKeyMap(TAB_KEYS);
    }
  });
  useEffect(() => {
    if (query === null || isOpened.current || !editors.queryEditor || !editors.variableEditor) return;
    isOpened.current = true;
    // React allows no synchronous render inside an effect.
    setTimeout(() => openTab(editors, query), 0);
  });
  return null;
}

/**
 * Accessible names for GraphiQL's editors, which have none.
 *
 * @type {readonly (readonly [selector: string, name: string])[]}
 */
const EDITORS = [
  ['.graphiql-query-editor', 'Query'],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1)', 'Variables, as JSON'],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(2)', 'Headers, as JSON'],
  ['.result-window', 'Response'],
];

function nameEditors() {
  for (const [editor, name] of EDITORS) {
    document.querySelector(`${editor} textarea:not([aria-label])`)?.setAttribute('aria-label', name);
  }
}

/** The examples are open until the user opens or closes a plugin. */
const firstPlugin = () =>
  localStorage.getItem(KEPT_PLUGIN) === null && matchMedia(ROOMY).matches ? examplesPlugin : undefined;

const place = document.getElementById('explorer');
if (place === null) throw new Error('The page has no element for the explorer.');
const isSchemaShown = place.dataset.introspection === 'on';
const notices = [
  isSchemaShown
    ? ''
    : 'Introspection is switched off on this server: queries work, but completion and documentation don’t.',
  place.dataset.token === 'needed'
    ? 'This site needs a token. Enter {"Authorization": "Bearer <token>"} under Headers, then press “Re-fetch GraphQL schema”.'
    : '',
].filter((text) => text !== '');

new MutationObserver(nameEditors).observe(place, { childList: true, subtree: true });

ReactDOM.createRoot(place).render(
  element(
    GraphiQL,
    {
      fetcher: GraphiQL.createFetcher({ url: location.pathname }),
      defaultTabs: [{ query: examples[0].query }],
      defaultTheme: localStorage.getItem(document.documentElement.dataset.themeKey ?? '') || undefined,
      plugins: [examplesPlugin],
      visiblePlugin: firstPlugin(),
      // `null` means that there is no schema; `undefined` would make GraphiQL request it.
      schema: isSchemaShown ? undefined : null,
    },
    element(GraphiQL.Logo, null, element(WithEditors, { query: readQueryFromLink() })),
    notices.length === 0
      ? null
      : element(
          GraphiQL.Footer,
          null,
          notices.map((text) => element('p', { key: text, className: 'explorer-notice' }, text)),
        ),
  ),
);
