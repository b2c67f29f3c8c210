/** Example queries for users who do not know the schema yet. Each works on any site. */
globalThis.examples = [
  {
    title: 'The newest files',
    about: 'Sorted by modification time, shown relative to now.',
    query: `query NewestFiles {
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
  },
  {
    title: 'Files by extension',
    about: 'Groups with the number of files in each.',
    query: `query FilesByExtension {
  allFile {
    group(field: extension) {
      fieldValue
      totalCount
    }
  }
}
`,
  },
  {
    title: 'Images, page by page',
    about: 'A filter pattern and a page offset, both as variables.',
    query: `query Images($pattern: String!, $skip: Int) {
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
    variables: '{ "pattern": "image/*", "skip": 0 }',
  },
  {
    title: 'Folders',
    about: 'All folders of the site, sorted by path.',
    query: `query Folders {
  allDirectory(sort: { fields: [relativePath] }) {
    nodes {
      relativePath
      name
    }
  }
}
`,
  },
  {
    title: 'Thumbnails',
    about: 'One size, with variants for high-density screens and a preview to show while it loads.',
    query: `query Thumbnails {
  allImageProc(limit: 3) {
    nodes {
      fixed(width: 160, height: 120, toFormat: WEBP) {
        width
        height
        base64
        src
        srcSet
      }
    }
  }
}
`,
  },
  {
    title: 'Responsive images',
    about: 'Several widths for the browser to choose from.',
    query: `query Fluid {
  allImageProc(limit: 3) {
    nodes {
      fluid(maxWidth: 600, quality: 70) {
        aspectRatio
        sizes
        src
        srcSet
        srcSetWebp
      }
    }
  }
}
`,
  },
  {
    title: 'Image outlines',
    about: 'A traced SVG to show while the image loads.',
    query: `query Outlines {
  allImageProc(limit: 1) {
    nodes {
      fixed(
        width: 200
        traceSVG: { color: "#17614a", turdSize: 20 }
      ) {
        tracedSVG
        src
      }
    }
  }
}
`,
  },
  {
    title: 'Combined conditions',
    about: 'Conditions joined by “or” and “not”.',
    query: `query SmallTextsOrData {
  allFile(
    filter: {
      or: [
        { extension: { in: ["json", "yaml", "csv"] } }
        { internal: { mediaType: { glob: "text/*" } } }
      ]
      not: { size: { gt: 100000 } }
    }
  ) {
    nodes {
      relativePath
      size
    }
  }
}
`,
  },
  {
    title: 'The site and its pages',
    about: 'The metadata of the site, its build time and its pages.',
    query: `query SiteAndPages {
  site {
    siteMetadata {
      title
      description
    }
    buildTime(formatString: "D MMMM YYYY, HH:mm")
  }
  allSitePage {
    nodes {
      path
    }
  }
}
`,
  },
];
