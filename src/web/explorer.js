/* global GraphiQL, React, ReactDOM, URLSearchParams, document, location */

/** Example queries, one a tab, for a person who opens the explorer for the first time. */
const examples = [
  `# The newest files of the site.
query NewestFiles {
  allFile(
    sort: { fields: [modifiedTime], order: [DESC] }
    limit: 10
  ) {
    totalCount
    nodes {
      relativePath
      prettySize
      modifiedTime(fromNow: true)
    }
  }
}
`,
  `# Files by their extension, and how many there are of each.
query FilesByExtension {
  allFile {
    group(field: extension) {
      fieldValue
      totalCount
    }
  }
}
`,
  `# Images, the largest first.
query Images($pattern: String!, $skip: Int) {
  allFile(
    filter: {
      internal: { mediaType: { glob: $pattern } }
    }
    sort: { fields: [size], order: [DESC] }
    limit: 5
    skip: $skip
  ) {
    nodes {
      relativePath
      size
      internal {
        mediaType
      }
    }
    pageInfo {
      currentPage
      pageCount
      hasNextPage
    }
  }
}
`,
  `# The folders of the site.
query Folders {
  allDirectory(sort: { fields: [relativePath] }) {
    nodes {
      relativePath
      name
    }
  }
}
`,
];
/** A query that another page leads here with; behind `#`, it is not sent. */
const given = new URLSearchParams(location.hash.slice(1)).get('query');
if (given !== null) examples.unshift(given);

const variables = [undefined, undefined, '{ "pattern": "image/*", "skip": 0 }', undefined];

const title = React.createElement('a', { className: 'explorer-title', href: '/' }, 'Trellis');

const place = document.getElementById('explorer');
const isSchemaShown = place.dataset.introspection === 'on';
const notice = React.createElement(
  'p',
  { className: 'explorer-notice' },
  'Introspection is switched off on this server: queries run, without completion and documentation.',
);

ReactDOM.createRoot(place).render(
  React.createElement(
    GraphiQL,
    {
      fetcher: GraphiQL.createFetcher({ url: location.pathname }),
      defaultTabs: examples.map((query, index) => ({
        query,
        variables: variables[given === null ? index : index - 1],
      })),
      // Null is a schema that is not there; undefined would be asked for.
      schema: isSchemaShown ? undefined : null,
    },
    React.createElement(GraphiQL.Logo, null, title),
    isSchemaShown ? null : React.createElement(GraphiQL.Footer, null, notice),
  ),
);
