/** @import { Editors, ExplorerRequest, EditedRequest, NewTab } from './globals.d.ts' */

const { createElement: element, useEffect, useLayoutEffect, useRef, useState } = React;
const { ToolbarMenu, useEditorContext } = GraphiQL.React;

/** The key in `localStorage` of the title of the open plugin, which is empty if none is open. */
const KEPT_PLUGIN = 'graphiql:visiblePlugin';

/** The storage of the browser; `null` if it is blocked, so that GraphiQL stores nothing either. */
const storage = findStorage();

function findStorage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/**
 * Stores the title of the open plugin, unless the storage is full. An error would keep the plugin closed.
 *
 * @param {{ readonly title: string } | null} plugin
 */
function keepPlugin(plugin) {
  try {
    storage?.setItem(KEPT_PLUGIN, plugin?.title ?? '');
  } catch {
    // The next visit opens the plugin that was stored before.
  }
}

/** The minimum width for a list beside the editors. */
const ROOMY = '(min-width: 60rem)';

/**
 * Returns a function that opens a query in a new tab and leaves the other tabs unchanged.
 *
 * GraphiQL writes to the editors while it computes the state of its tabs. React computes it again if an update of lower
 * priority came before, such as one that stores the text of a tab, and the new tab would lose its text. So the tab is
 * added right after a render of that priority, and once there are editors.
 *
 * @returns {(tab: NewTab) => void}
 */
function useOpenTab() {
  const { addTab, queryEditor, variableEditor } = useEditorContext({ nonNull: true });
  const [next, setNext] = useState(/** @type {NewTab | undefined} */ (undefined));
  const opened = useRef(next);
  useLayoutEffect(() => {
    if (next === opened.current || !queryEditor || !variableEditor) return undefined;
    opened.current = next;
    // React allows no synchronous render inside an effect.
    queueMicrotask(() => {
      // The editors switch to the new tab only after a render.
      ReactDOM.flushSync(addTab);
      queryEditor.setValue(next?.query ?? '');
      variableEditor.setValue(next?.variables ?? '');
    });
    return undefined;
  });
  // Updates of a click have a high priority, and those of a timer do not.
  return (tab) => void setTimeout(() => setNext({ ...tab }), 0);
}

const send = GraphiQL.createFetcher({ url: location.pathname });

/**
 * Sends a request of the editors. GraphiQL reads the name of the operation a while after its text has changed, so just
 * after a tab was opened the name may be that of the previous one.
 *
 * @param {EditedRequest} request
 * @param {unknown} options
 */
function fetchResult({ operationName, ...request }, options) {
  const declaration = new RegExp(`\\b(?:query|subscription)\\s+${operationName ?? ''}\\b`, 'u');
  return send(operationName && declaration.test(request.query) ? { ...request, operationName } : request, options);
}

function Examples() {
  const openTab = useOpenTab();
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
          element('button', { type: 'button', onClick: () => openTab({ query, variables }) }, title),
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

/**
 * Reads the request in the editors.
 *
 * @param {Editors} editors
 * @returns {ExplorerRequest}
 * @throws {SyntaxError} Variables or headers are not JSON.
 */
function readRequest({ queryEditor, variableEditor, headerEditor }) {
  const variables = variableEditor?.getValue().trim() || undefined;
  if (variables !== undefined) JSON.parse(variables);
  const headers = JSON.parse(headerEditor?.getValue().trim() || '{}');
  return { url: location.origin + location.pathname, query: queryEditor?.getValue() ?? '', variables, headers };
}

/** How long the message about a copy is shown, in milliseconds. */
const MESSAGE_MS = 4_000;

const copyIcon = element(
  'svg',
  {
    ...{ className: 'graphiql-toolbar-icon', viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor' },
    ...{ strokeWidth: 1.75, 'aria-hidden': true },
  },
  element('path', { d: 'M12 15V4m0 0L8 8m4-4 4 4M5 13v5a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-5' }),
);

/** Copies the request as a link, as a command or as code. */
function CopyMenu() {
  const editors = useEditorContext({ nonNull: true });
  const [message, setMessage] = useState('');
  useEffect(() => {
    if (message === '') return undefined;
    const timer = setTimeout(setMessage, MESSAGE_MS, '');
    return () => clearTimeout(timer);
  }, [message]);
  /** @param {(typeof requestFormats)[number]} chosen */
  async function copy({ said, format }) {
    try {
      await navigator.clipboard.writeText(format(readRequest(editors)));
      setMessage(said);
    } catch (error) {
      const isInvalid = error instanceof SyntaxError;
      setMessage(isInvalid ? 'Variables and headers must be JSON.' : 'The browser does not allow copying here.');
    }
  }
  return element(
    React.Fragment,
    null,
    element(
      ToolbarMenu,
      { label: 'Share or copy', button: copyIcon },
      requestFormats.map((one) =>
        element(ToolbarMenu.Item, { key: one.label, onSelect: () => void copy(one) }, one.label),
      ),
    ),
    element('p', { className: 'explorer-copied', role: 'status' }, message),
  );
}

/**
 * Returns the address that opens a query in a new tab of the explorer. Headers stay out of it, as they may contain tokens.
 *
 * @param {ExplorerRequest} request
 */
const toLink = ({ url, query, variables }) => {
  const parts = new URLSearchParams({ query, ...(variables === undefined ? {} : { variables }) });
  return `${url}#${parts.toString()}`;
};

/**
 * Returns a command that sends a request in a POSIX shell.
 *
 * @param {ExplorerRequest} request
 */
const toCurl = ({ url, query, variables, headers }) => {
  /** @param {string} text */
  const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const body = JSON.stringify({ query, variables: variables === undefined ? undefined : JSON.parse(variables) });
  const fields = Object.entries({ 'Content-Type': 'application/json', ...headers });
  return [
    `curl ${quote(url)}`,
    ...fields.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(body)}`,
  ].join(' \\\n  ');
};

/**
 * Returns a module in TypeScript that sends a request.
 *
 * @param {ExplorerRequest} request
 */
const toTypeScript = ({ url, query, variables, headers }) => {
  const text = query.replaceAll(/[\\`]|\$\{/g, String.raw`\$&`);
  const fields = JSON.stringify({ 'Content-Type': 'application/json', ...headers });
  const rest = variables === undefined ? '' : `, variables: ${JSON.stringify(JSON.parse(variables))}`;
  return [
    `const query = \`${text}\`;`,
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: 'POST',`,
    `  headers: ${fields},`,
    `  body: JSON.stringify({ query${rest} }),`,
    `});`,
    `const { data, errors } = (await response.json()) as {`,
    `  data?: unknown;`,
    `  errors?: readonly { message: string }[];`,
    `};`,
    `if (errors) throw new Error(errors[0]?.message);`,
    `console.log(data);`,
    ``,
  ].join('\n');
};

/** The forms in which a request can be copied. */
const requestFormats = [
  { label: 'Copy link', said: 'Link copied.', format: toLink },
  { label: 'Copy as curl', said: 'Copied as curl.', format: toCurl },
  { label: 'Copy as TypeScript', said: 'Copied as TypeScript.', format: toTypeScript },
];

/** Reads the request that a link passes in the fragment, which is not sent to the server, and clears the fragment. */
function readLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const query = parts.get('query');
  if (query === null) return;
  // A reload restores the tab, so the query must not be opened twice.
  history.replaceState(null, '', location.pathname);
  return { query, variables: parts.get('variables') ?? '' };
}

/** Lets Tab leave an editor, so that keyboard users are not trapped in it. */
const TAB_KEYS = { Tab: false, 'Shift-Tab': false };

const withTabKeys = new WeakSet();

/**
 * Sets up the editors once they exist: the Tab keys, and the query of a link. Draws nothing.
 *
 * @param {{ readonly link: ReturnType<typeof readLink> }} properties
 */
function WithEditors({ link }) {
  const editors = useEditorContext({ nonNull: true });
  const openTab = useOpenTab();
  // GraphiQL closes all plugins in an effect that follows this one.
  useEffect(() => void setTimeout(openFirstPlugin, 0), []);
  useEffect(() => {
    const { queryEditor, variableEditor, headerEditor, responseEditor } = editors;
    for (const editor of [queryEditor, variableEditor, headerEditor, responseEditor]) {
      if (!editor || withTabKeys.has(editor)) continue;
      withTabKeys.add(editor);
      editor.addKeyMap(TAB_KEYS);
    }
    return undefined;
  });
  useEffect(() => {
    if (link !== undefined) openTab(link);
    return undefined;
  }, []);
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
  // Icons are called “icon”, beside the names of their buttons.
  for (const icon of document.querySelectorAll('.graphiql-container button svg:not([aria-hidden])')) {
    icon.setAttribute('aria-hidden', 'true');
  }
}

/** Describes tabs as a list, because each of them contains two buttons, and assistive technology shows none inside a tab. */
function listTabs() {
  document.querySelector('.graphiql-tabs')?.setAttribute('role', 'list');
  for (const tab of document.querySelectorAll('.graphiql-tab')) {
    tab.setAttribute('role', 'listitem');
    const isSelected = tab.getAttribute('aria-selected');
    if (isSelected === null) continue;
    tab.removeAttribute('aria-selected');
    tab.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', isSelected);
  }
}

/**
 * Opens the plugin that was open before, and the examples until a plugin was opened or closed. With the property for an
 * open plugin, GraphiQL would draw it without a width.
 */
function openFirstPlugin() {
  const first = matchMedia(ROOMY).matches ? examplesPlugin.title : '';
  const title = storage?.getItem(KEPT_PLUGIN) ?? first;
  const button = document.querySelector(`.graphiql-sidebar [aria-label="Show ${title}"]`);
  if (title !== '' && button instanceof HTMLElement) button.click();
}

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

new MutationObserver(() => {
  nameEditors();
  listTabs();
}).observe(place, { childList: true, subtree: true, attributeFilter: ['aria-selected'] });

ReactDOM.createRoot(place).render(
  element(
    GraphiQL,
    {
      fetcher: fetchResult,
      defaultTabs: [{ query: examples[0].query }],
      defaultTheme: storage?.getItem(document.documentElement.dataset.themeKey ?? '') || undefined,
      storage: storage === null ? null : undefined,
      plugins: [examplesPlugin],
      onTogglePluginVisibility: keepPlugin,
      // `null` means that there is no schema; `undefined` would make GraphiQL request it.
      schema: isSchemaShown ? undefined : null,
    },
    element(GraphiQL.Logo, null, element(WithEditors, { link: readLink() })),
    element(GraphiQL.Toolbar, null, ({ prettify, merge, copy }) => [
      ...[prettify, merge, copy].map((button, key) => element(React.Fragment, { key }, button)),
      element(CopyMenu, { key: 'more' }),
    ]),
    notices.length === 0
      ? null
      : element(
          GraphiQL.Footer,
          null,
          notices.map((text) => element('p', { key: text, className: 'explorer-notice' }, text)),
        ),
  ),
);
