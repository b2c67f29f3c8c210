/** Queries to begin with, for whoever does not know the schema yet; each runs on any site. */
globalThis.examples = [
  {
    title: 'The newest files',
    about: 'Sorted by when they changed, with how long ago that was.',
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
    about: 'Groups, and how many are in each.',
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
    about: 'A pattern and a page, both as variables.',
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
    title: 'The folders',
    about: 'Of the site, by their path.',
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
    about: 'One size, with denser images for denser screens and a preview to show until then.',
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
    title: 'Images that grow with the page',
    about: 'Several widths for a browser to choose from.',
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
    title: 'Outlines of an image',
    about: 'A drawing that stands there until the image has come.',
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
    title: 'Either, or, and not',
    about: 'Conditions that are combined.',
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
    about: 'What it says of itself, and when its data was put together.',
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
