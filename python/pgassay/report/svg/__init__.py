"""Charts as static SVG, which a page, a print-out, a mail and a Markdown file all show.

A chart is a `Figure` of `Panel`s (model.py); `draw.py` makes the SVG for a given width, so that a
phone gets a drawing of its own with type of the same size. Colours are plain values, each with a
class by which style.css replaces it on a dark page. templates/charts.js reads values, zooms and
hides arms by the attributes that marks.py writes; everything is shown without it.

Drawn here and not by a library: those that draw SVG without a browser fix the width, the colours
and the type in the picture (matplotlib, vl-convert); those that do not weigh megabytes in the page
(plotly: 4.8 of the 4.9 MB that a report had).
"""
