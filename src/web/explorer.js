/* global GraphiQL, React, ReactDOM, examples, URLSearchParams, document, history, localStorage, location, matchMedia, MutationObserver, setTimeout */

const { createElement: element, useEffect, useRef } = React;
const { useEditorContext } = GraphiQL.React;

/** What GraphiQL keeps in the browser, as under this name: a plugin that was open or closed. */
const KEPT_PLUGIN = 'graphiql:visiblePlugin';

/** Less is too little for a list beside the editors. */
const ROOMY = '(min-width: 60rem)';

/** Puts a query into a tab of its own; what is in others stays. */
function openTab({ addTab, queryEditor, variableEditor }, query, variables = '') {
  // The editors show the new tab only once it is drawn.
  ReactDOM.flushSync(addTab);
  queryEditor.setValue(query);
  variableEditor?.setValue(variables);
}

function Examples() {
  const editors = useEditorContext({ nonNull: true });
  return element(
    'section',
    { className: 'explorer-examples', 'aria-label': 'Examples' },
    element('div', { className: 'graphiql-doc-explorer-title' }, 'Examples'),
    element('p', null, 'Each opens in a tab of its own.'),
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

/** The query that another page leads here with. Behind `#`, it is not sent. */
function takeGiven() {
  const given = new URLSearchParams(location.hash.slice(1)).get('query');
  // Whoever loads the page again has the tab already.
  if (given !== null) history.replaceState(null, '', location.pathname);
  return given;
}

/** In which Tab goes on to what comes next, so that nobody without a mouse is caught in them. */
const LEAVING = { Tab: false, 'Shift-Tab': false };

const isLeft = new WeakSet();

/** What is done once there are editors: the keys, and what another page leads here with. Draws nothing. */
function WithEditors({ query }) {
  const editors = useEditorContext({ nonNull: true });
  const isOpened = useRef(false);
  useEffect(() => {
    const { queryEditor, variableEditor, headerEditor, responseEditor } = editors;
    for (const editor of [queryEditor, variableEditor, headerEditor, responseEditor]) {
      if (!editor || isLeft.has(editor)) continue;
      isLeft.add(editor);
      editor.addKeyMap(LEAVING);
    }
  });
  useEffect(() => {
    if (query === null || isOpened.current || !editors.queryEditor || !editors.variableEditor) return;
    isOpened.current = true;
    // Not while these are drawn, when nothing can be drawn at once.
    setTimeout(() => openTab(editors, query), 0);
  });
  return null;
}

/** Its editors have no names, which screen readers would say. */
const EDITORS = [
  ['.graphiql-query-editor', 'Query'],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1)', 'Variables, as JSON'],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(2)', 'Headers, as JSON'],
  ['.result-window', 'Answer'],
];

function nameEditors() {
  for (const [editor, name] of EDITORS) {
    document.querySelector(`${editor} textarea:not([aria-label])`)?.setAttribute('aria-label', name);
  }
}

/** Until something was opened or closed, what a newcomer needs is open. */
const firstPlugin = () =>
  localStorage.getItem(KEPT_PLUGIN) === null && matchMedia(ROOMY).matches ? examplesPlugin : undefined;

const place = document.getElementById('explorer');
const isSchemaShown = place.dataset.introspection === 'on';
const notices = [
  isSchemaShown
    ? ''
    : 'Introspection is switched off on this server: queries run, without completion and documentation.',
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
      defaultTheme: localStorage.getItem('trellis-theme') || undefined,
      plugins: [examplesPlugin],
      visiblePlugin: firstPlugin(),
      // Null is a schema that is not there; undefined would be asked for.
      schema: isSchemaShown ? undefined : null,
    },
    element(GraphiQL.Logo, null, element(WithEditors, { query: takeGiven() })),
    notices.length === 0
      ? null
      : element(
          GraphiQL.Footer,
          null,
          notices.map((text) => element('p', { key: text, className: 'explorer-notice' }, text)),
        ),
  ),
);
